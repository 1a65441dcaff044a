package service

import "petstore/internal/petstore"

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

// demoOrders maps the names of ordered animals to the references of their orders.
var demoOrders = map[string]string{
	"Rex, greyhound, retired racer": "Ms Okafor, home visit on Saturday",
	"Cleo, Siamese":                 "Adoption 2026-117",
	"Atlas, Great Dane":             "The Lindqvists, fence to be checked",
	"Captain, blue budgie":          "Sam, asks about a second cage",
	"Olive, tabby":                  "Adoption 2026-121",
}

// demoAnimals are the animals that petstore demo shows, oldest first.
var demoAnimals = []petstore.NewPet{
	{Name: "Duke, German shepherd", CategoryID: dogs, Status: petstore.Sold},
	{Name: "Whiskers, black domestic shorthair", CategoryID: cats, Status: petstore.Sold},
	{Name: "Clover, Dutch rabbit", CategoryID: rabbits, Status: petstore.Sold},
	{Name: "Sheldon, Hermann's tortoise", CategoryID: tortoises, Status: petstore.Available},
	{Name: "Daisy, cocker spaniel", CategoryID: dogs, Status: petstore.Sold},
	{Name: "Smokey, Russian blue", CategoryID: cats, Status: petstore.Available},
	{Name: "Pip and Squeak, guinea pigs", CategoryID: rodents, Status: petstore.Sold},
	{Name: "Kiwi, green budgie", CategoryID: birds, Status: petstore.Sold},
	{Name: "Bruno, boxer", CategoryID: dogs, Status: petstore.Available},
	{Name: "Luna, tortoiseshell", CategoryID: cats, Status: petstore.Sold},
	{Name: "Thumper, Flemish giant", CategoryID: rabbits, Status: petstore.Available},
	{Name: "Rosie, Jack Russell terrier", CategoryID: dogs, Status: petstore.Sold},
	{Name: "Nibbles, Syrian hamster", CategoryID: rodents, Status: petstore.Available},
	{Name: "Oscar, ginger tom", CategoryID: cats, Status: petstore.Sold},
	{Name: "Finn, border collie", CategoryID: dogs, Status: petstore.Available},
	{Name: "Sky, cockatiel", CategoryID: birds, Status: petstore.Available},
	{Name: "Mabel, calico", CategoryID: cats, Status: petstore.Available},
	{Name: "Rex, greyhound, retired racer", CategoryID: dogs, Status: petstore.Pending},
	{Name: "Hazel, lop-eared rabbit", CategoryID: rabbits, Status: petstore.Sold},
	{Name: "Professor, African grey parrot", CategoryID: birds, Status: petstore.Available},
	{Name: "Bella, golden retriever", CategoryID: dogs, Status: petstore.Sold},
	{Name: "Tiger, striped tabby", CategoryID: cats, Status: petstore.Available},
	{Name: "Peanut, dwarf hamster", CategoryID: rodents, Status: petstore.Sold},
	{Name: "Otis, basset hound", CategoryID: dogs, Status: petstore.Available},
	{Name: "Cleo, Siamese", CategoryID: cats, Status: petstore.Pending},
	{Name: "Speedy, box turtle", CategoryID: tortoises, Status: petstore.Pending},
	{Name: "Maggie, Labrador, 9 years young", CategoryID: dogs, Status: petstore.Available},
	{Name: "Snowball, lionhead rabbit", CategoryID: rabbits, Status: petstore.Available},
	{Name: "Jasper, grey and white shorthair", CategoryID: cats, Status: petstore.Sold},
	{Name: "Ziggy, lovebird", CategoryID: birds, Status: petstore.Available},
	{Name: "Scout, hound mix", CategoryID: dogs, Status: petstore.Available},
	{Name: "Waffles, Abyssinian guinea pig", CategoryID: rodents, Status: petstore.Available},
	{Name: "Misty, Persian", CategoryID: cats, Status: petstore.Available},
	{Name: "Cooper, springer spaniel", CategoryID: dogs, Status: petstore.Pending},
	{Name: "Juniper, harlequin rabbit", CategoryID: rabbits, Status: petstore.Available},
	{Name: "Felix, tuxedo cat", CategoryID: cats, Status: petstore.Available},
	{Name: "Zoë, Pyrenean mountain dog", CategoryID: dogs, Status: petstore.Available},
	{Name: "Mango, sun conure", CategoryID: birds, Status: petstore.Sold},
	{Name: "Gus and Gertie, rats, a bonded pair", CategoryID: rodents, Status: petstore.Available},
	{Name: "Pepper, miniature schnauzer", CategoryID: dogs, Status: petstore.Available},
	{Name: "Poppy, three-legged tabby", CategoryID: cats, Status: petstore.Pending},
	{Name: "Toby, whippet cross", CategoryID: dogs, Status: petstore.Available},
	{Name: "Shelly, Greek tortoise", CategoryID: tortoises, Status: petstore.Available},
	{Name: "Ginger, orange shorthair", CategoryID: cats, Status: petstore.Available},
	{Name: "Ruby, Staffordshire bull terrier", CategoryID: dogs, Status: petstore.Available},
	{Name: "Biscuit, English spot rabbit", CategoryID: rabbits, Status: petstore.Pending},
	{Name: "Marlowe, Maine coon", CategoryID: cats, Status: petstore.Sold},
	{Name: "Nala, shepherd mix, deaf", CategoryID: dogs, Status: petstore.Available},
	{Name: "Sunny, yellow canary", CategoryID: birds, Status: petstore.Available},
	{Name: "Hugo, French bulldog", CategoryID: dogs, Status: petstore.Sold},
	{Name: "Willow, silver tabby", CategoryID: cats, Status: petstore.Available},
	{Name: "Cinnamon, Netherland dwarf", CategoryID: rabbits, Status: petstore.Available},
	{Name: "Atlas, Great Dane", CategoryID: dogs, Status: petstore.Pending},
	{Name: "Truffle, long-haired guinea pig", CategoryID: rodents, Status: petstore.Available},
	{Name: "Pixel, kitten, 12 weeks", CategoryID: cats, Status: petstore.Available},
	{Name: "Captain, blue budgie", CategoryID: birds, Status: petstore.Pending},
	{Name: "Tilly, Yorkshire terrier", CategoryID: dogs, Status: petstore.Sold},
	{Name: "Bernard, Hermann's tortoise, about 40", CategoryID: tortoises, Status: petstore.Available},
	{Name: "Olive, tabby", CategoryID: cats, Status: petstore.Pending},
	{Name: "Maple, mini lop", CategoryID: rabbits, Status: petstore.Available},
	{Name: "Biscuit, beagle mix", CategoryID: dogs, Status: petstore.Available},
}
