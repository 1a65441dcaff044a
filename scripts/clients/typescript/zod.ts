// Uses the client that @hey-api/openapi-ts generated. The client checks every request and answer with Zod.
import assert from 'node:assert/strict';
import { client } from './generated/client.gen';
import {
  completeOrder, createCategory, createPet, deletePet, getInventory, listPets, nameCategory, placeOrder, updatePet,
} from './generated/sdk.gen';
import type { Error, Pet } from './generated/types.gen';
import { zName, zNewPet } from './generated/zod.gen';

async function main(): Promise<void> {
  client.setConfig({ baseUrl: `${process.env.SERVER}/v1`, auth: () => process.env.KEY, throwOnError: true });
  const all = { throwOnError: true } as const;

  const pet: Pet = (await createPet({ ...all, body: { name: 'Zoë 🐕', categoryId: -1 } })).data;
  assert.equal(pet.status, 'available');
  assert.deepEqual((await listPets({ ...all, query: { limit: 1 } })).data, [pet]);
  const changed = await updatePet({ ...all, path: { petId: pet.id }, body: { categoryId: 2 } });
  assert.deepEqual(changed.data, { ...pet, categoryId: 2 });

  const category = (await createCategory({ ...all, body: { name: 'Dogs' } })).data;
  assert.equal((await nameCategory({ ...all, path: { categoryId: category.id }, body: { name: 'Hounds' } })).data.name, 'Hounds');

  const order = (await placeOrder({ ...all, body: { petId: pet.id, holdSeconds: 60 } })).data;
  assert.equal(order.status, 'open');
  assert.equal((await completeOrder({ ...all, path: { orderId: order.id } })).data.status, 'completed');
  assert.ok((await getInventory(all)).data.sold >= 1);
  await deletePet({ ...all, path: { petId: pet.id } });

  const refused = await listPets({ auth: () => 'no key at all', throwOnError: false });
  const error: Error | undefined = refused.error;
  assert.equal(error?.code, 'unauthorized');

  for (const name of ['a', ' a ', '\u{1F415}', '\u200B', '\uFEFF', '\u2027', '\u3001']) {
    assert.ok(zName.safeParse(name).success, JSON.stringify(name));
  }
  for (const name of ['', ' ', '\n', '\u0085', '\u1680\u2028\u2029\u3000', 'a\u0000']) {
    assert.ok(!zName.safeParse(name).success, JSON.stringify(name));
  }
  assert.ok(zNewPet.safeParse({ name: 'Biscuit', categoryId: 1, colour: 'brown' }).success);
  assert.ok(!zNewPet.safeParse({ name: 'Biscuit' }).success);
}

main();
