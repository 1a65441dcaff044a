package history

import "petstore/internal/petstore"

// become is the animal if it can be as wanted at the time of the event. What is nil may be anything.
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

// turn brings the animal to a status that is wanted, by what may have happened without a trace.
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

// mustBeFree reports whether a write comes so late that it first closes the order that holds the animal.
func (s *subject) mustBeFree(now state, e *event) bool {
	writes := e.kind == patched || e.kind == ordered || e.kind == unavailable
	return writes && now.holder != 0 && e.called > s.orders[now.holder-1].mustExpire
}

// freed is what may have become of a held animal without a trace.
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

// free is the animal if no order can hold it at the time of the event.
func (s *subject) free(now state, e *event) (state, bool) {
	if now.holder == 0 {
		return now, true
	}
	for _, free := range s.freed(now, e) {
		return free, true
	}
	return now, false
}

// hide is the animal if a list without it can be right.
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

// floated reports whether a change like that may have happened without a trace before the event was over.
func (s *subject) floated(e *event, like func(*float) bool) bool {
	for i := range s.floats {
		if f := &s.floats[i]; f.from <= e.returned && like(f) {
			return true
		}
	}
	return false
}
