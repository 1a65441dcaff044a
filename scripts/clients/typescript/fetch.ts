// Uses the types that openapi-typescript generated, through openapi-fetch.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import createClient from 'openapi-fetch';
import type { components, paths } from './schema';

const connect = (key: string) =>
  createClient<paths>({ baseUrl: `${process.env.SERVER}/v1`, headers: { Authorization: `Bearer ${key}` } });

async function main(): Promise<void> {
  const client = connect(process.env.KEY ?? '');

  const added = await client.POST('/pets', {
    params: { header: { 'Idempotency-Key': randomUUID() } },
    body: { name: 'Biscuit', categoryId: 1 },
  });
  assert.ok(added.data);
  const pet: components['schemas']['Pet'] = added.data;
  assert.equal(pet.status, 'available');

  const listed = await client.GET('/pets', { params: { query: { limit: 1, status: 'available' } } });
  assert.deepEqual(listed.data, [pet]);
  const one = await client.GET('/pets', { params: { query: { id: pet.id } } });
  assert.deepEqual(one.data, [pet]);

  const changed = await client.PATCH('/pets/{petId}', { params: { path: { petId: pet.id } }, body: { name: 'Olive' } });
  assert.deepEqual(changed.data, { ...pet, name: 'Olive' });

  const placed = await client.POST('/orders', { body: { petId: pet.id, reference: 'fetch' } });
  assert.ok(placed.data);
  assert.equal(placed.data.status, 'open');
  const held = await client.DELETE('/pets/{petId}', { params: { path: { petId: pet.id } } });
  assert.equal(held.error?.code, 'pet_reserved');

  const completed = await client.POST('/orders/{orderId}/complete', { params: { path: { orderId: placed.data.id } } });
  assert.equal(completed.data?.status, 'completed');
  const deleted = await client.DELETE('/pets/{petId}', { params: { path: { petId: pet.id } } });
  assert.equal(deleted.response.status, 204);

  const refused = await connect('no key at all').GET('/pets');
  assert.ok(refused.error);
  const error: components['schemas']['Error'] = refused.error;
  assert.equal(error.code, 'unauthorized');
  assert.equal(error.status, 401);
}

main();
