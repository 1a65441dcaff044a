package history

import "petstore/internal/petstore"

// become returns the animal with the wanted values, if it can have them at the time of the event. A nil value may be
// anything.
func (s *subject) become(now state, e *event, name *string, category *int64, status string) (state, bool) {
	if now.phase != alive {
		return now, false
	}
	if name != nil && now.name != *name {
		if !s.floated(e, func(f *float) bool { return f.Name != nil && *f.Name == *name }) {
			return now, false
		}
		now.name = *name
	}
	if category != nil && now.category != *category {
		if !s.floated(e, func(f *float) bool { return f.CategoryID != nil && *f.CategoryID == *category }) {
			return now, false
		}
		now.category = *category
	}
	return s.turn(now, e, func(has string) bool { return has == status })
}

// turn brings the animal to the wanted status, by changes that may have happened without a trace.
func (s *subject) turn(now state, e *event, wanted func(string) bool) (state, bool) {
	if wanted(now.status) && !s.mustBeFree(now, e) {
		return now, true
	}
	if now.holder == 0 {
		for i := range s.floats {
			if f := &s.floats[i]; f.from <= e.returned && f.Status != nil && wanted(*f.Status) {
				now.status = *f.Status
				return now, true
			}
		}
		return now, false
	}
	for _, free := range s.freed(now, e) {
		if then, ok := s.turn(free, e, wanted); ok {
			return then, true
		}
	}
	return now, false
}

// mustBeFree reports whether a write comes so late that the store first closes the order that holds the animal.
func (s *subject) mustBeFree(now state, e *event) bool {
	writes := e.kind == patched || e.kind == ordered || e.kind == unavailable
	return writes && now.holder != 0 && e.called > s.orders[now.holder-1].mustExpire
}

// freed returns the states of a held animal after its order may have been closed without a trace.
func (s *subject) freed(now state, e *event) (free []state) {
	o := s.orders[now.holder-1]
	if e.returned >= o.mayExpire {
		free = append(free, s.release(now, petstore.Expired))
	}
	if e.returned >= o.cancelled {
		free = append(free, s.release(now, petstore.Cancelled))
	}
	if e.returned >= o.completed {
		free = append(free, s.release(now, petstore.Completed))
	}
	return free
}

// free returns the animal without an order, if none needs to hold it at the time of the event.
func (s *subject) free(now state, e *event) (state, bool) {
	if now.holder == 0 {
		return now, true
	}
	for _, free := range s.freed(now, e) {
		return free, true
	}
	return now, false
}

// hide returns the animal in a state in which a list without it is right, if there is one.
func (s *subject) hide(now state, e *event) (state, bool) {
	if now.phase != alive || e.status != "" && now.status != e.status {
		return now, true
	}
	if free, ok := s.free(now, e); ok && s.gone <= e.returned {
		free.phase = dead
		return free, true
	}
	if e.status == "" {
		return now, false
	}
	return s.turn(now, e, func(has string) bool { return has != e.status })
}

// floated reports whether such a change may have happened without a trace before the event was over.
func (s *subject) floated(e *event, like func(*float) bool) bool {
	for i := range s.floats {
		if f := &s.floats[i]; f.from <= e.returned && like(f) {
			return true
		}
	}
	return false
}
