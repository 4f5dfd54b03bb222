import type { ResourceOf } from '../api/names.ts';
import { type FieldError, invalid } from '../api/status.ts';
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  ResourceClaim,
  ResourceClaimStatus,
} from '../api/types/resource/stored.ts';
import { equal } from '../object/equality.ts';
import { forbiddenField } from '../object/field-errors.ts';
import type { UserInfo } from '../request/api-request.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts';
import { isWriteOf, type Refusals, type Right } from './plugin.ts';

const CLAIMS: ResourceOf<ResourceClaim> = { group: 'resource.k8s.io', resource: 'resourceclaims' };

/**
 * Asks for two more rights of who writes the status of a claim: `resourceclaims/binding` to give it devices or users, and
 * `resourceclaims/driver` by the name of the driver to report what its devices are like (Kubernetes: pkg/registry/resource,
 * AuthorizedForBinding and AuthorizedForDeviceStatus). Whether the feature is on is asked beforehand.
 */
export function guardClaimStatus(access: Refusals): AdmissionPlugin {
  return {
    name: 'ClaimStatusRights',
    operations: ['UPDATE'],
    validate: async (attributes) => {
      if (!isWriteOf(attributes, CLAIMS, 'status')) return;
      const { object, old, definition, name } = attributes;
      const [status, before] = [object?.status ?? {}, old?.status ?? {}];
      const refused = [
        ...(await refuseBinding(access, attributes, [status, before])),
        ...(await refuseReports(access, attributes, [status, before])),
      ];
      if (refused.length > 0) throw invalid(definition, name, refused);
    },
  };
}

type Change = readonly [ResourceClaimStatus, ResourceClaimStatus];

async function refuseBinding(
  access: Refusals,
  attributes: AdmissionAttributes,
  [{ allocation, reservedFor = [] }, before]: Change,
): Promise<FieldError[]> {
  if (equal(allocation, before.allocation) && equal(reservedFor, before.reservedFor ?? [])) return [];
  const { verb = 'update', user } = attributes;
  const why = await access.refusal(user, rightTo(attributes, verb, 'binding'));
  if (why === undefined) return [];
  const what = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission`;
  return [forbiddenField('status.allocation', `${what}: ${why}`)];
}

async function refuseReports(
  access: Refusals,
  attributes: AdmissionAttributes,
  [{ allocation, devices = [] }, before]: Change,
): Promise<FieldError[]> {
  // Reports go with the devices.
  if (allocation === undefined) return [];
  const { verb = 'update', user, namespace } = attributes;
  const anywhere = `arbitrary-node:${verb}`;
  const verbs = isOnNode(user, nodeOf(allocation)) ? [`associated-node:${verb}`, anywhere] : [anywhere];
  const refused: FieldError[] = [];
  for (const name of driversIn(devices, before.devices ?? [])) {
    const answers: (string | undefined)[] = [];
    for (const one of verbs)
      if (!answers.includes(undefined))
        answers.push(await access.refusal(user, { ...rightTo(attributes, one, 'driver'), namespace, name }));
    const [why] = answers;
    if (why === undefined || answers.includes(undefined)) continue;
    const what = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission`;
    refused.push(forbiddenField('status.devices', `${what}: ${why}`));
  }
  return refused;
}

const rightTo = ({ version }: AdmissionAttributes, verb: string, subresource: string): Right => ({
  ...CLAIMS,
  ...{ verb, version, subresource },
});

const keyOf = ({ driver, pool, device, shareID }: AllocatedDeviceStatus): string =>
  JSON.stringify([driver, pool, device, shareID]);

/** Drivers with reports that came, changed or went, in the order of their names. */
function driversIn(
  devices: readonly AllocatedDeviceStatus[],
  before: readonly AllocatedDeviceStatus[],
): readonly string[] {
  const old = new Map(before.map((device) => [keyOf(device), device]));
  const known = new Set(devices.map(keyOf));
  const changed = [
    ...devices.filter((device) => !equal(device, old.get(keyOf(device)))),
    ...before.filter((device) => !known.has(keyOf(device))),
  ];
  return [...new Set(changed.map(({ driver = '' }) => driver))].sort();
}

/** The name of the only node from which the devices can be used. */
function nodeOf({ nodeSelector }: AllocationResult): string | undefined {
  const [term, ...others] = nodeSelector?.nodeSelectorTerms ?? [];
  const [field, ...more] = term?.matchFields ?? [];
  const isOne = others.length === 0 && more.length === 0 && (term?.matchExpressions ?? []).length === 0;
  if (!isOne || field?.key !== 'metadata.name' || field.operator !== 'In') return undefined;
  return field.values?.length === 1 ? field.values[0] : undefined;
}

const NODE_NAME = 'authentication.kubernetes.io/node-name';

/** Whether the user is a service account whose token names the node. */
function isOnNode({ username, extra }: UserInfo, node: string | undefined): boolean {
  const names = extra[NODE_NAME] ?? [];
  return (
    node !== undefined &&
    username.startsWith('system:serviceaccount:') &&
    names.length === 1 &&
    names[0] === node
  );
}
