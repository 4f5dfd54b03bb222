import { expect, test } from 'vitest';
import { LEASES } from '../../src/api/known-resources.ts';
import { ServerIdentity, serverIdentity } from '../../src/controllers/server-identity.ts';
import { leases } from '../../src/resources/coordination/lease.ts';
import { createTestClient } from '../kit/client.ts';

test('a server is called as Kubernetes calls it, and servers of one host by their ports', () => {
  // The hash of the host name and of kube-apiserver, each after its length.
  expect(serverIdentity('node-1', 6443)).toBe('apiserver-lgabes5ywnaqeagh5dny4zlzs4');
  expect(serverIdentity('node-1', 6444)).toMatch(/^apiserver-[a-z2-7]{26}$/);
  expect(serverIdentity('node-1', 6444)).not.toBe(serverIdentity('node-1', 6443));
});

test('the lease says who holds it and until when, and keeps what others wrote on it', async () => {
  const { client, store } = createTestClient({ definitions: [leases] });
  let now = new Date('2026-02-02T12:00:00Z');
  const start = (): ServerIdentity =>
    new ServerIdentity({
      client,
      name: 'apiserver-x',
      hostname: 'node-1',
      now: () => now,
      onError: () => {},
    });
  const first = start();
  await first.renew();
  const read = () => client.get(LEASES, { namespace: 'kube-system', name: 'apiserver-x' });
  const made = await read();
  expect(made?.metadata.labels).toEqual({
    'apiserver.kubernetes.io/identity': 'kube-apiserver',
    'kubernetes.io/hostname': 'node-1',
  });
  expect(made?.spec).toEqual({
    holderIdentity: expect.stringMatching(/^apiserver-x_[0-9a-f-]{36}$/),
    leaseDurationSeconds: 3600,
    renewTime: '2026-02-02T12:00:00.000000Z',
  });
  await client.update(LEASES, { namespace: 'kube-system', name: 'apiserver-x' }, (copy) => ({
    ...copy,
    metadata: { ...copy.metadata, annotations: { a: 'b' } },
  }));
  store.catchUp();
  now = new Date('2026-02-02T12:00:10Z');
  await first.renew();
  const renewed = await read();
  expect(renewed?.metadata.annotations).toEqual({ a: 'b' });
  expect(renewed?.spec?.renewTime).toBe('2026-02-02T12:00:10.000000Z');
  expect(renewed?.spec?.holderIdentity).toBe(made?.spec?.holderIdentity);
  await start().renew();
  expect((await read())?.spec?.holderIdentity).not.toBe(made?.spec?.holderIdentity);
});
