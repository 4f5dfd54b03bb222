import { expect, test } from 'vitest';
import { guardAdminAccess } from '../../src/admission/admin-access.ts';
import type { AdmissionAttributes } from '../../src/admission/admission.ts';
import type { Minor } from '../../src/api/emulation.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { attributesOf, FakeCluster, refusalOf, toObject } from '../kit/admission.ts';

const OLD = 'resource.k8s.io/admin-access';
const LABEL = 'resource.kubernetes.io/admin-access';

const claim = (adminAccess: boolean): JsonObject => ({
  spec: {
    devices: {
      requests: [
        { name: 'a', exactly: { deviceClassName: 'a' } },
        { name: 'b', exactly: { deviceClassName: 'a', adminAccess } },
      ],
    },
  },
});

const admit = (
  minor: Minor,
  labels: Record<string, string>,
  object: JsonObject,
  resource = 'resourceclaims',
  more: Partial<AdmissionAttributes> = {},
): Promise<string | undefined> =>
  refusalOf(
    guardAdminAccess(new FakeCluster({ namespaces: [{ metadata: { name: 'default', labels } }] }), minor),
    attributesOf(`resource.k8s.io/${resource}`, { object: toObject(object), ...more }),
  );

test('access for administration needs the label of its version on the namespace', async () => {
  expect(await admit(36, {}, claim(false))).toBeUndefined();
  expect(await admit(36, { [LABEL]: 'true' }, claim(true))).toBeUndefined();
  expect(await admit(33, { [OLD]: 'true' }, claim(true))).toBeUndefined();
  const refused = `spec.devices.requests[1].adminAccess: Forbidden: admin access to devices requires the \`${LABEL}: true\` label on the containing namespace`;
  for (const labels of [{}, { [OLD]: 'true' }, { [LABEL]: 'True' }])
    expect(await admit(36, labels, claim(true))).toContain(refused);
  expect(await admit(33, { [LABEL]: 'true' }, claim(true))).toContain(OLD);
});

test('so do templates, with the same path', async () => {
  expect(await admit(36, {}, { spec: claim(true) }, 'resourceclaimtemplates')).toContain(
    ': spec.devices.requests[1].adminAccess: Forbidden',
  );
});

test('so do new results of an allocation, and those that are there stay', async () => {
  const given = { status: { allocation: { devices: { results: [{ request: 'b', adminAccess: true }] } } } };
  const onStatus = { operation: 'UPDATE', subresource: 'status' } as const;
  const change = (old: JsonObject): Promise<string | undefined> =>
    admit(36, {}, given, 'resourceclaims', { ...onStatus, old: toObject(old) });
  expect(await change({})).toContain('status.allocation.devices.results[0].adminAccess: Forbidden');
  expect(await change(given)).toBeUndefined();
});
