// Uses the class that swagger-typescript-api generated.
import assert from 'node:assert/strict';
import { Api, type Error, type HttpResponse } from './swagger/api';

const connect = (key: string) =>
  new Api({ baseUrl: `${process.env.SERVER}/v1`, baseApiParams: { headers: { Authorization: `Bearer ${key}` } } });

/** Returns the body of a refused call. The class throws the whole answer, which contains the body. */
async function refusal(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => assert.fail('the call was not refused'),
    (thrown: HttpResponse<unknown, Error>) => thrown.error,
  );
}

async function main(): Promise<void> {
  const { pets, categories, orders, inventory } = connect(process.env.KEY ?? '');

  const pet = (await pets.createPet({ name: 'Pepper', categoryId: 3 })).data;
  assert.equal(pet.status, 'available');
  assert.deepEqual((await pets.listPets({ id: pet.id })).data, [pet]);
  assert.deepEqual((await pets.updatePet(pet.id, { name: 'Olive' })).data, { ...pet, name: 'Olive' });

  const category = (await categories.createCategory({ name: 'Rabbits' })).data;
  assert.equal((await categories.nameCategory(category.id, { name: 'Hares' })).data.name, 'Hares');
  await categories.deleteCategory(category.id);

  const order = (await orders.placeOrder({ petId: pet.id, reference: 'class' })).data;
  assert.equal((await refusal(orders.placeOrder({ petId: pet.id }))).code, 'pet_unavailable');
  assert.equal((await orders.cancelOrder(order.id)).data.status, 'cancelled');
  assert.ok((await inventory.getInventory()).data.available >= 1);
  await pets.deletePet(pet.id);

  assert.equal((await refusal(connect('no key at all').pets.listPets())).code, 'unauthorized');
}

main().catch((thrown) => {
  console.error(thrown.error ?? thrown);
  process.exit(1);
});
