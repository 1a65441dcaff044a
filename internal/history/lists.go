package history

func (c *checker) checkLists() {}
