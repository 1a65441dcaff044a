package petstore

// MaxCategoryNameLength is the greatest length of a category name in Unicode code points.
const MaxCategoryNameLength = 100

// CategoryBound is the lowest category id that the category counter ignores when it looks for its starting point. The bound
// keeps the counter below 2^53, above which JavaScript clients misread numbers.
const CategoryBound = 1 << 52

// Category gives a name to a category id. An animal may also have a categoryId that has no name.
type Category struct {
	ID   int64
	Name string
}

// CheckCategoryName returns what is wrong with a category name, or "" if the name may be stored.
func CheckCategoryName(name string) (problem string) { return CheckText(name, MaxCategoryNameLength) }

// NoSuchCategory returns the refusal of a category id without a name.
func NoSuchCategory() *Error { return noSuchCategory }

var noSuchCategory = &Error{Code: NotFound, Noun: CategoryNoun}

// CategoryNameTaken returns the refusal of a name that another category already has.
func CategoryNameTaken(other Category) *Error { return &Error{Code: NameTaken, Category: &other} }
