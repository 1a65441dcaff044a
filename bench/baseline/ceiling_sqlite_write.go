package baseline

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// commitAll makes changes in one transaction.
func (s *fastSQLite) commitAll(changes []*change) error {
	s.changed = s.changed[:0]
	animals, err := s.animals, run(s.begin)
	if err == nil {
		err = s.makeAll(changes, &animals)
	}
	if err == nil {
		err = run(s.commit)
	}
	if err != nil {
		return errors.Join(err, run(s.rollback))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.animals = animals
	for _, p := range s.changed {
		if i := p.ID - s.newest[0].ID; i == int64(len(s.newest)) {
			s.newest = append(s.newest, p)
		} else if i >= 0 {
			s.newest[i] = p
		}
	}
	if len(s.newest) > 2*inMemory {
		s.newest = slices.Clone(s.newest[inMemory:])
	}
	s.commits.Add(1)
	return nil
}

func (s *fastSQLite) makeAll(changes []*change, animals *inventory) error {
	var creates []*change
	for _, c := range changes {
		if c.kind == create {
			creates = append(creates, c)
			animals[numbers[c.pet.Status]]++
		}
	}
	for some := range slices.Chunk(creates, len(s.inserts)) {
		if err := s.insert(some); err != nil {
			return err
		}
	}
	now := time.Now().UnixMilli()
	for _, c := range changes {
		if c.kind == create {
			continue
		}
		if err := s.makeOne(c, now, animals); errors.Is(err, errNotFound) {
			c.refused = err
		} else if err != nil {
			return err
		}
	}
	for status, n := range animals {
		if n == s.animals[status] {
			continue
		}
		if err := run(s.count, int64(status), n); err != nil {
			return err
		}
	}
	return nil
}

// insert stores animals with one statement.
func (s *fastSQLite) insert(creates []*change) error {
	stmt := s.inserts[len(creates)-1]
	for i, c := range creates {
		stmt.BindText(3*i+1, c.pet.Name)
		stmt.BindInt64(3*i+2, c.pet.CategoryID)
		stmt.BindInt64(3*i+3, numbers[c.pet.Status])
	}
	if err := run(stmt); err != nil {
		return err
	}
	first := s.writer.LastInsertRowID() - int64(len(creates)) + 1
	for i, c := range creates {
		c.pet.ID = first + int64(i)
		s.changed = append(s.changed, c.pet)
	}
	return nil
}

// makeOne makes a change of an animal that exists. It returns errNotFound before it has changed anything.
func (s *fastSQLite) makeOne(c *change, now int64, animals *inventory) error {
	id := c.pet.ID
	if c.kind == place {
		id = c.order.pet
	}
	if c.kind == complete {
		s.findOrder.BindInt64(1, c.order.id)
		defer s.findOrder.Reset()
		if found, err := s.findOrder.Step(); err != nil || !found {
			return cmp.Or(err, errNotFound)
		}
		c.order = order{c.order.id, s.findOrder.ColumnInt64(0), s.findOrder.ColumnInt64(1), s.findOrder.ColumnInt64(2), now}
		id = c.order.pet
	}
	p, err := s.current(id)
	if err != nil || c.kind == place && p.Status != "available" {
		return cmp.Or(err, errNotFound)
	}
	animals[numbers[p.Status]]--
	switch c.kind {
	case update:
		p.CategoryID = c.pet.CategoryID
	case place:
		p.Status = "pending"
		c.order = order{0, id, now, now + hold.Milliseconds(), 0}
		err = run(s.placeOrder, id, now, c.order.expires)
		c.order.id = s.writer.LastInsertRowID()
	case complete:
		p.Status = "sold"
		err = run(s.closeOrder, c.order.id, now)
	}
	animals[numbers[p.Status]]++
	c.pet, s.changed = p, append(s.changed, p)
	return errors.Join(err, run(s.update, id, p.CategoryID, numbers[p.Status]))
}

// current returns an animal as the running transaction sees it.
func (s *fastSQLite) current(id int64) (pet, error) {
	for _, p := range slices.Backward(s.changed) {
		if p.ID == id {
			return p, nil
		}
	}
	if p, ok := s.remembered(id); ok {
		return p, nil
	}
	s.find.BindInt64(1, id)
	defer s.find.Reset()
	if found, err := s.find.Step(); err != nil || !found {
		return pet{}, cmp.Or(err, errNotFound)
	}
	return readPet(s.find), nil
}
