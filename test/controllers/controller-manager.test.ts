import { expect, test } from 'vitest';
import { ControllerManager } from '../../src/controllers/controller-manager.ts';
import { leases } from '../../src/resources/coordination/lease.ts';
import { createTestClient } from '../kit/client.ts';

function begin() {
  const { client, store } = createTestClient({ definitions: [leases] });
  let atMs = 0;
  const manager = new ControllerManager({ client, now: () => atMs });
  let renewals = 0;
  return {
    manager,
    pass: (ms: number): void => {
      atMs += ms;
    },
    /** The manager's clock is years behind. */
    renew: (spec: object = {}, namespace = 'kube-system'): void => {
      renewals += 1;
      const renewTime = `2001-01-01T00:00:00.${String(renewals).padStart(6, '0')}Z`;
      store.put('coordination.k8s.io', 'leases', {
        kind: 'Lease',
        apiVersion: 'coordination.k8s.io/v1',
        metadata: { namespace, name: 'kube-controller-manager' },
        spec: { holderIdentity: 'm', leaseDurationSeconds: 15, renewTime, ...spec },
      });
      store.catchUp();
    },
  };
}

test('without a lease no controller manager is at work', async () => {
  const { manager, renew } = begin();
  expect(await manager.isAtWork()).toBe(false);
  renew({ holderIdentity: '' });
  expect(await manager.isAtWork()).toBe(false);
});

test('a controller manager is at work while its lease changes, with any difference of the clocks', async () => {
  const { manager, renew, pass } = begin();
  for (let time = 0; time < 5; time += 1) {
    renew();
    expect(await manager.isAtWork()).toBe(true);
    pass(14_999);
    expect(await manager.isAtWork()).toBe(true);
  }
  pass(1);
  expect(await manager.isAtWork()).toBe(false);
  renew();
  expect(await manager.isAtWork()).toBe(true);
});

test('a lease that was left is no reason to wait, and one in the other dialect’s namespace counts', async () => {
  const { manager, renew } = begin();
  renew();
  expect(await manager.isAtWork()).toBe(true);
  renew({ holderIdentity: '', leaseDurationSeconds: 1 });
  expect(await manager.isAtWork()).toBe(false);
  renew({}, 'cluster-system');
  expect(await manager.isAtWork()).toBe(true);
});

test('how long a lease lasts is what it says', async () => {
  const { manager, renew, pass } = begin();
  renew({ leaseDurationSeconds: 60 });
  expect(await manager.isAtWork()).toBe(true);
  pass(59_999);
  expect(await manager.isAtWork()).toBe(true);
  pass(1);
  expect(await manager.isAtWork()).toBe(false);
});
