import { expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { uncoveredRules } from '../../src/authz/rbac/escalation.ts';
import type { PolicyRule } from '../../src/authz/rbac/role-rules.ts';
import { bootstrapRoles } from '../../src/controllers/bootstrap-objects.ts';
import { clusterroles, roles } from '../../src/resources/rbac/role.ts';
import { clusterrolebindings, rolebindings } from '../../src/resources/rbac/role-binding.ts';
import { createTestClient } from '../kit/client.ts';

const GROUP = 'rbac.authorization.k8s.io';
const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

const { client, store } = createTestClient({
  definitions: [clusterroles, clusterrolebindings, roles, rolebindings],
});

async function read(resource: string, name: string): Promise<ApiObject> {
  const found = await client.get<ApiObject>({ group: GROUP, resource }, { name });
  if (found === undefined) throw new Error(`there is no ${resource} ${name}`);
  return found;
}

const subjects = async (binding: string): Promise<string[]> =>
  ((await read('clusterrolebindings', binding)).subjects as JsonObject[]).map(({ name }) => String(name));

test('missing default objects begin with the rights that administrators gave to those they were split from', async () => {
  await bootstrapRoles(client, () => false);
  const known = ['system:authenticated'];
  expect(await subjects('system:discovery')).toEqual(known);
  expect(await subjects('system:public-info-viewer')).toEqual([...known, 'system:unauthenticated']);
  expect((await read('clusterroles', 'view')).rules).toBeUndefined();
  const roleOf = await read('clusterroles', 'system:aggregate-to-view');

  const metadata = { name: 'system:discovery', annotations: { [AUTO_UPDATE]: 'false', why: 'hardened' } };
  store.put(GROUP, 'clusterrolebindings', {
    ...(await read('clusterrolebindings', metadata.name)),
    metadata,
  });
  store.drop(GROUP, 'clusterrolebindings', { name: 'system:public-info-viewer' });
  const own = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] };
  const { kind, apiVersion } = roleOf;
  store.put(GROUP, 'clusterroles', { kind, apiVersion, metadata: { name: 'view' }, rules: [own] });
  for (const name of ['system:aggregate-to-view', 'system:aggregate-to-edit'])
    store.drop(GROUP, 'clusterroles', { name });
  store.catchUp();

  await bootstrapRoles(client, () => false);
  const viewers = await read('clusterrolebindings', 'system:public-info-viewer');
  expect(await subjects('system:public-info-viewer')).toEqual(known);
  expect(viewers).toMatchObject({ roleRef: { name: 'system:public-info-viewer' } });
  expect(viewers.metadata.annotations).toEqual(metadata.annotations);
  expect(viewers.metadata.labels).toBeUndefined();
  const heir = await read('clusterroles', 'system:aggregate-to-view');
  const rulesOf = ({ rules }: ApiObject): PolicyRule[] => rules as unknown as PolicyRule[];
  expect(rulesOf(heir)[0]).toEqual(own);
  expect(uncoveredRules(rulesOf(heir), rulesOf(roleOf))).toEqual([]);
  expect(heir.metadata.labels).toEqual(roleOf.metadata.labels);
  expect((await read('clusterroles', 'view')).aggregationRule).toBeDefined();
  // A role that gathers its rules has none of its own to leave.
  const edit = await read('clusterroles', 'system:aggregate-to-edit');
  expect(edit).toMatchObject({ metadata: { annotations: { [AUTO_UPDATE]: 'true' } } });
});
