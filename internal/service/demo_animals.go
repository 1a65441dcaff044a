package service

import (
	"time"

	"petstore/internal/petstore"
)

// The categories of the demo animals, numbered as a shelter might number them.
const (
	dogs int64 = iota + 1
	cats
	rabbits
	rodents
	birds
	tortoises
)

var demoCategories = []petstore.Category{
	{ID: dogs, Name: "Dogs"},
	{ID: cats, Name: "Cats"},
	{ID: rabbits, Name: "Rabbits"},
	{ID: rodents, Name: "Guinea pigs, hamsters and rats"},
	{ID: birds, Name: "Birds"},
	{ID: tortoises, Name: "Tortoises"},
}

// demoOrders has the orders by the names of their animals.
var demoOrders = map[string]struct {
	reference string
	hold      time.Duration
}{
	"Rex":     {"Ms Okafor, home visit on Saturday", 5 * day},
	"Cleo":    {"Adoption 2026-117", 2 * time.Hour},
	"Atlas":   {"The Lindqvists, fence to be checked", 3 * day},
	"Captain": {"Sam, asks about a second cage", 10 * day},
	"Olive":   {"Adoption 2026-121", day},
}

const day = 24 * time.Hour

// demoAnimal is an animal that petstore demo shows. Its age is in whole years; 0 means a few weeks.
type demoAnimal struct {
	name, breed string
	category    int64
	sex         petstore.Sex
	years       int
	tag         string
	status      petstore.Status
}

// profile returns what the store knows about the animal, which arrived some days ago.
func (a demoAnimal) profile(now time.Time, daysAgo int) petstore.ProfilePatch {
	facts := petstore.Facts{
		Breed:     a.breed,
		Sex:       a.sex,
		BornOn:    now.AddDate(-a.years, 0, 0).Format("2006"),
		ArrivedOn: now.AddDate(0, 0, -daysAgo).Format(time.DateOnly),
		Tags:      petstore.Tags(a.tag),
	}
	if a.years == 0 {
		facts.BornOn = now.AddDate(0, 0, -12*7).Format(time.DateOnly)
	}
	if a.name == "Olive" {
		facts.Description = "Calm, curious, and fond of high shelves. She has lived with an older cat and with children."
		facts.Notes = "Vaccinated in October. She eats only if nobody watches."
	}
	return petstore.ProfilePatch{
		Breed: &facts.Breed, Sex: &facts.Sex, BornOn: &facts.BornOn, ArrivedOn: &facts.ArrivedOn,
		Description: &facts.Description, Tags: &facts.Tags, Notes: &facts.Notes,
	}
}

// demoAnimals are the animals that petstore demo shows, oldest first.
var demoAnimals = []demoAnimal{
	{name: "Duke", breed: "German shepherd", category: dogs, sex: petstore.Male, years: 1, status: petstore.Sold},
	{name: "Whiskers", breed: "Black domestic shorthair", category: cats, sex: petstore.Male, years: 8, status: petstore.Sold},
	{name: "Clover", breed: "Dutch rabbit", category: rabbits, sex: petstore.Female, years: 6, status: petstore.Sold},
	{name: "Sheldon", breed: "Hermann's tortoise", category: tortoises, sex: petstore.Male, years: 22, status: petstore.Available},
	{name: "Daisy", breed: "Cocker spaniel", category: dogs, sex: petstore.Female, years: 2, status: petstore.Sold},
	{name: "Smokey", breed: "Russian blue", category: cats, sex: petstore.Male, years: 9, status: petstore.Available},
	{name: "Pip and Squeak", breed: "Guinea pigs", category: rodents, years: 2, tag: "Bonded pair", status: petstore.Sold},
	{name: "Kiwi", breed: "Green budgie", category: birds, sex: petstore.Female, years: 5, status: petstore.Sold},
	{name: "Bruno", breed: "Boxer", category: dogs, sex: petstore.Male, years: 3, status: petstore.Available},
	{name: "Luna", breed: "Tortoiseshell", category: cats, sex: petstore.Female, years: 1, status: petstore.Sold},
	{name: "Thumper", breed: "Flemish giant", category: rabbits, sex: petstore.Male, years: 8, status: petstore.Available},
	{name: "Rosie", breed: "Jack Russell terrier", category: dogs, sex: petstore.Female, years: 6, status: petstore.Sold},
	{name: "Nibbles", breed: "Syrian hamster", category: rodents, sex: petstore.Male, years: 3, status: petstore.Available},
	{name: "Oscar", breed: "Ginger tom", category: cats, sex: petstore.Male, years: 2, status: petstore.Sold},
	{name: "Finn", breed: "Border collie", category: dogs, sex: petstore.Male, years: 9, status: petstore.Available},
	{name: "Sky", breed: "Cockatiel", category: birds, sex: petstore.Female, years: 7, status: petstore.Available},
	{name: "Mabel", breed: "Calico", category: cats, sex: petstore.Female, years: 5, status: petstore.Available},
	{name: "Rex", breed: "Greyhound", category: dogs, sex: petstore.Male, years: 5, tag: "Retired racer", status: petstore.Pending},
	{name: "Hazel", breed: "Lop-eared rabbit", category: rabbits, sex: petstore.Female, years: 1, status: petstore.Sold},
	{name: "Professor", breed: "African grey parrot", category: birds, sex: petstore.Male, years: 18, status: petstore.Available},
	{name: "Bella", breed: "Golden retriever", category: dogs, sex: petstore.Female, years: 6, status: petstore.Sold},
	{name: "Tiger", breed: "Striped tabby", category: cats, sex: petstore.Male, years: 4, status: petstore.Available},
	{name: "Peanut", breed: "Dwarf hamster", category: rodents, sex: petstore.Female, years: 1, status: petstore.Sold},
	{name: "Otis", breed: "Basset hound", category: dogs, sex: petstore.Male, years: 9, status: petstore.Available},
	{name: "Cleo", breed: "Siamese", category: cats, sex: petstore.Female, years: 7, status: petstore.Pending},
	{name: "Speedy", breed: "Box turtle", category: tortoises, sex: petstore.Male, years: 12, status: petstore.Pending},
	{name: "Maggie", breed: "Labrador", category: dogs, sex: petstore.Female, years: 9, tag: "Senior", status: petstore.Available},
	{name: "Snowball", breed: "Lionhead rabbit", category: rabbits, sex: petstore.Female, years: 1, status: petstore.Available},
	{name: "Jasper", breed: "Grey and white shorthair", category: cats, sex: petstore.Male, years: 8, status: petstore.Sold},
	{name: "Ziggy", breed: "Lovebird", category: birds, sex: petstore.Male, years: 6, status: petstore.Available},
	{name: "Scout", breed: "Hound mix", category: dogs, sex: petstore.Male, years: 4, status: petstore.Available},
	{name: "Waffles", breed: "Abyssinian guinea pig", category: rodents, sex: petstore.Female, years: 2, status: petstore.Available},
	{name: "Misty", breed: "Persian", category: cats, sex: petstore.Female, years: 9, status: petstore.Available},
	{name: "Cooper", breed: "Springer spaniel", category: dogs, sex: petstore.Male, years: 7, status: petstore.Pending},
	{name: "Juniper", breed: "Harlequin rabbit", category: rabbits, sex: petstore.Female, years: 5, status: petstore.Available},
	{name: "Felix", breed: "Tuxedo cat", category: cats, sex: petstore.Male, years: 3, status: petstore.Available},
	{name: "Zoë", breed: "Pyrenean mountain dog", category: dogs, sex: petstore.Female, years: 1, status: petstore.Available},
	{name: "Mango", breed: "Sun conure", category: birds, sex: petstore.Male, years: 8, status: petstore.Sold},
	{name: "Gus and Gertie", breed: "Rats", category: rodents, years: 3, tag: "Bonded pair", status: petstore.Available},
	{name: "Pepper", breed: "Miniature schnauzer", category: dogs, sex: petstore.Female, years: 4, status: petstore.Available},
	{name: "Poppy", breed: "Tabby", category: cats, sex: petstore.Female, years: 2, tag: "Three legs", status: petstore.Pending},
	{name: "Toby", breed: "Whippet cross", category: dogs, sex: petstore.Male, years: 9, status: petstore.Available},
	{name: "Shelly", breed: "Greek tortoise", category: tortoises, sex: petstore.Female, years: 15, status: petstore.Available},
	{name: "Ginger", breed: "Orange shorthair", category: cats, sex: petstore.Female, years: 5, status: petstore.Available},
	{name: "Ruby", breed: "Staffordshire bull terrier", category: dogs, sex: petstore.Female, years: 3, status: petstore.Available},
	{name: "Biscuit", breed: "English spot rabbit", category: rabbits, sex: petstore.Male, years: 1, status: petstore.Pending},
	{name: "Marlowe", breed: "Maine coon", category: cats, sex: petstore.Male, years: 8, status: petstore.Sold},
	{name: "Nala", breed: "Shepherd mix", category: dogs, sex: petstore.Female, years: 6, tag: "Deaf", status: petstore.Available},
	{name: "Sunny", breed: "Yellow canary", category: birds, sex: petstore.Male, years: 4, status: petstore.Available},
	{name: "Hugo", breed: "French bulldog", category: dogs, sex: petstore.Male, years: 2, status: petstore.Sold},
	{name: "Willow", breed: "Silver tabby", category: cats, sex: petstore.Female, years: 9, status: petstore.Available},
	{name: "Cinnamon", breed: "Netherland dwarf", category: rabbits, sex: petstore.Female, years: 7, status: petstore.Available},
	{name: "Atlas", breed: "Great Dane", category: dogs, sex: petstore.Male, years: 5, status: petstore.Pending},
	{name: "Truffle", breed: "Long-haired guinea pig", category: rodents, sex: petstore.Female, years: 1, status: petstore.Available},
	{name: "Pixel", breed: "Kitten", category: cats, sex: petstore.Male, status: petstore.Available},
	{name: "Captain", breed: "Blue budgie", category: birds, sex: petstore.Male, years: 8, status: petstore.Pending},
	{name: "Tilly", breed: "Yorkshire terrier", category: dogs, sex: petstore.Female, years: 6, status: petstore.Sold},
	{name: "Bernard", breed: "Hermann's tortoise", category: tortoises, sex: petstore.Male, years: 40, status: petstore.Available},
	{name: "Olive", breed: "Tabby", category: cats, sex: petstore.Female, years: 2, status: petstore.Pending},
	{name: "Maple", breed: "Mini lop", category: rabbits, sex: petstore.Female, years: 9, status: petstore.Available},
	{name: "Biscuit", breed: "Beagle mix", category: dogs, sex: petstore.Male, years: 7, status: petstore.Available},
}
