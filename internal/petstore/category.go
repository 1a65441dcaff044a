package petstore

// MaxCategoryNameLength is the longest name of a category, in Unicode code points.
const MaxCategoryNameLength = 100

// CategoryBound is where the numbers begin that the counter of categories does not count on from. So the counter never
// reaches 2^53, from where on JavaScript clients misread numbers.
const CategoryBound = 1 << 52

// Category gives a name to a number that animals carry as their category. Animals may also carry a number without a name.
type Category struct {
	ID   int64
	Name string
}

// CheckCategoryName says what is wrong with the name of a category. It returns "" if the name may be stored.
func CheckCategoryName(name string) (problem string) { return CheckText(name, MaxCategoryNameLength) }

// NoSuchCategory is the refusal of a number without a name.
func NoSuchCategory() *Error { return noSuchCategory }

var noSuchCategory = &Error{Code: NotFound, Noun: CategoryNoun}

// CategoryNameTaken is the refusal of a name that another category has.
func CategoryNameTaken(other Category) *Error { return &Error{Code: NameTaken, Category: &other} }
