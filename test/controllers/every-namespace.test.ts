import { expect, test } from 'vitest';
import type { ApiObject } from '../../src/api/object-meta.ts';
import { EveryNamespace } from '../../src/controllers/every-namespace.ts';
import { rootCertificate } from '../../src/controllers/namespace-deletion.ts';
import { configmaps } from '../../src/resources/core/config-map.ts';
import { namespaces } from '../../src/resources/core/namespace.ts';
import { createTestClient } from '../kit/client.ts';
import { Authority } from '../kit/pki.ts';

const SHOP: ApiObject = {
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: { name: 'shop' },
  status: { phase: 'Active' },
};

/** A namespace in which another client makes the map just before the controller does, which has not seen it yet. */
function raced(theirs: ApiObject) {
  const { client, store } = createTestClient({ definitions: [configmaps, namespaces] });
  store.put('', 'namespaces', SHOP);
  store.catchUp();
  store.beforeCommit = () => store.put('', 'configmaps', theirs);
  const written = (): unknown[] => store.commits.map(({ json }) => JSON.parse(json.toString()).data);
  return { client, written };
}

const map = (certificate: string): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'kube-root-ca.crt', namespace: 'shop' },
  data: { 'ca.crt': certificate },
});

test('of two writers that create the same map, the second checks the result of the first', async () => {
  const { pem: ours } = await Authority.create('ours');
  const { pem: theirs } = await Authority.create('theirs');
  for (const [made, wanted] of [
    ['nonsense', [{ 'ca.crt': ours }]],
    [theirs, []],
    [ours, []],
  ] as const) {
    const { client, written } = raced(map(made));
    const object = rootCertificate(ours);
    const everywhere = new EveryNamespace({ client, object, manager: 'm', onError: () => {} });
    await everywhere.ensure('shop', false);
    expect(written()).toEqual(wanted);
  }
});
