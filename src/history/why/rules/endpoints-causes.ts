import type { JsonObject } from '../../../api/json.ts';
import { equal } from '../../../object/equality.ts';
import { objectAt, objectsOf, stringOf } from '../../../object/json-values.ts';
import { cause, type Past, type PastWrite, type Rule } from '../past.ts';
import { changesWanted, labelOf, stateOf } from '../states.ts';
import { newestOf, writesOf } from './reading.ts';

const SERVICES = { group: '', resource: 'services' };
const NAMED_BY = 'kubernetes.io/service-name';
const SLICES = new Set(['endpoints', 'endpointslices']);

/** Endpoints follow the pods that they name, and their Service. */
export const endpointsWritten: Rule = async (effect, past) => {
  const { resource, namespace } = effect.key;
  if (!SLICES.has(resource) || effect.verb === 'delete') return undefined;
  const pod = effect.verb === 'update' ? await newestPod(effect, past) : undefined;
  const service = labelOf(stateOf(effect), NAMED_BY) || effect.key.name;
  const key = { ...SERVICES, namespace, name: service };
  const answered = await newestOf(past.ofName(key, { before: effect.revision }), changesWanted);
  if (pod !== undefined && pod.revision > (answered?.revision ?? 0n))
    return cause(
      pod,
      'likely',
      `Revision ${pod.revision} is the last before it that changed a pod whose address it adds, changes or removes.`,
    );
  if (answered === undefined) return undefined;
  return cause(
    answered,
    'likely',
    `It is of Service ${service}, and revision ${answered.revision} is the last before it that changed the Service's spec.`,
  );
};

/** Most pods that are looked up: an answer needs one. */
const PODS_LOOKED_UP = 8;

async function newestPod(effect: PastWrite, past: Past): Promise<PastWrite | undefined> {
  const before = addressesOf(effect.was);
  const after = addressesOf(effect.is);
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (uid) => !equal(before.get(uid)?.address, after.get(uid)?.address),
  );
  let newest: PastWrite | undefined;
  for (const uid of changed.slice(0, PODS_LOOKED_UP)) {
    const name = (after.get(uid) ?? before.get(uid))?.name ?? '';
    const key = { ...effect.key, group: '', resource: 'pods', name };
    const write = await newestOf(writesOf(past, { key, uid }, effect.revision), () => true);
    if (write !== undefined && write.revision > (newest?.revision ?? 0n)) newest = write;
  }
  return newest;
}

interface Address {
  readonly name: string;
  readonly address: JsonObject;
}

/** Returns the addresses of pods, by uid, in either form. */
function addressesOf(state: JsonObject | undefined): Map<string, Address> {
  const ofSubsets = objectsOf(state?.subsets).flatMap((subset) =>
    ['addresses', 'notReadyAddresses'].flatMap((field) =>
      objectsOf(subset[field]).map((address) => ({ ...address, field })),
    ),
  );
  return new Map(
    [...objectsOf(state?.endpoints), ...ofSubsets].map((address: JsonObject) => {
      const { uid, name } = objectAt(address, 'targetRef');
      return [stringOf(uid), { name: stringOf(name), address }];
    }),
  );
}
