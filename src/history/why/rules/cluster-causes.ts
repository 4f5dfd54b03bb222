import type { JsonObject, JsonValue } from '../../../api/json.ts';
import type { GroupResource } from '../../../api/names.ts';
import { equal } from '../../../object/equality.ts';
import { objectAt, objectsOf, stringOf } from '../../../object/json-values.ts';
import { parseQuantity } from '../../../object/quantity.ts';
import type { ObjectKey } from '../../../storage/key.ts';
import { parseRevision } from '../../../storage/revision.ts';
import { controllerOf, isBySame } from '../authors.ts';
import { cause, firstOf, type Past, type PastWrite, type Rule, unknown } from '../past.ts';
import {
  annotationOf,
  changesField,
  changesWanted,
  groupOf,
  labelOf,
  nameOf,
  specOf,
  stateOf,
  statusOf,
} from '../states.ts';
import { isFinished } from './deletion-causes.ts';
import { endpointsWritten } from './endpoints-causes.ts';
import { newestOf, newestOwn, writesOf } from './reading.ts';

/** Ties between objects other than owner references. */

/** What every namespace is given. */
const FIRST_OBJECTS = new Set(['serviceaccounts/default', 'configmaps/kube-root-ca.crt']);

const madeWithNamespace: Rule = async (effect, past) => {
  const { resource, namespace, name } = effect.key;
  if (effect.verb !== 'create' || !FIRST_OBJECTS.has(`${resource}/${name}`)) return undefined;
  const before = await newestOwnByOthers(effect, past);
  if (before !== undefined) return before;
  const key = { group: '', resource: 'namespaces', namespace: '', name: namespace };
  const made = await newestOf(past.ofName(key, { before: effect.revision }), ({ verb }) => verb === 'create');
  if (made === undefined) return unknown(`The creation of its namespace is ${past.beyond()}.`);
  return cause(
    made,
    'certain',
    `Every namespace is given one, and revision ${made.revision} created this namespace.`,
  );
};

/** Finds the deletion after which it was made again. */
async function newestOwnByOthers(effect: PastWrite, past: Past) {
  const end = await newestOf(past.ofName(effect.key, { before: effect.revision }), () => true);
  if (end?.verb !== 'delete') return undefined;
  return cause(
    end,
    'likely',
    `Every namespace has one, and revision ${end.revision} deleted the one before.`,
  );
}

const tokenMade: Rule = async (effect, past) => {
  const name = annotationOf(effect.is, 'kubernetes.io/service-account.name');
  const uid = annotationOf(effect.is, 'kubernetes.io/service-account.uid');
  if (effect.key.resource !== 'secrets' || name === '' || uid === '') return undefined;
  const own = await newestOwn(past, effect, (write) => !isBySame(write, effect));
  if (own !== undefined) return undefined;
  const key = { ...effect.key, resource: 'serviceaccounts', name };
  const answered = await newestOf(writesOf(past, { key, uid }, effect.revision), () => true);
  if (answered === undefined) return undefined;
  return cause(
    answered,
    'likely',
    `It is a token of ServiceAccount ${name} with uid ${uid}, which revision ${answered.revision} wrote last.`,
  );
};

const RECORDED = ['regarding', 'involvedObject'] as const;

/** An Event names its object, and the revision of it that its author had read. */
const eventRecorded: Rule = async (effect, past) => {
  if (effect.key.resource !== 'events' || effect.verb === 'delete') return undefined;
  const about = RECORDED.map((field) => objectAt(effect.is, field)).find(({ name }) => name !== undefined);
  if (about === undefined) return undefined;
  const kind = stringOf(about.kind);
  const uid = stringOf(about.uid);
  const name = stringOf(about.name);
  const known = past.find({ group: groupOf(stringOf(about.apiVersion)), kind });
  if (known === undefined || uid === '') return undefined;
  const key = { ...known.resource, namespace: stringOf(about.namespace), name };
  const read = parseRevision(stringOf(about.resourceVersion));
  const writes = writesOf(past, { key, uid }, effect.revision);
  const answered = await newestOf(writes, ({ revision }) => read === undefined || revision <= read);
  if (answered === undefined) return undefined;
  const isRead = answered.revision === read;
  return cause(
    answered,
    isRead ? 'certain' : 'likely',
    isRead
      ? `The Event tells of ${kind} ${name} as revision ${read} left it.`
      : `The Event tells of ${kind} ${name} with uid ${uid}, whose last write before it is revision ${answered.revision}.`,
  );
};

const AUTOSCALERS = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };

const autoscaled: Rule = async (effect, past) => {
  if (controllerOf(effect) !== 'horizontal-pod-autoscaler' || !changesField(effect, 'spec', 'replicas'))
    return undefined;
  const { name, namespace } = effect.key;
  const kind = stringOf(effect.is?.kind);
  const scaler = await newestOf(
    past.ofResource(AUTOSCALERS, namespace, { before: effect.revision }),
    (write) => {
      const target = objectAt(stateOf(write), 'spec', 'scaleTargetRef');
      return target.kind === kind && target.name === name;
    },
  );
  if (scaler === undefined)
    return unknown(
      `Its HorizontalPodAutoscaler was last written ${past.beyond()}; metrics are not in history.`,
    );
  return cause(
    scaler,
    'likely',
    `${nameOf(scaler)} scales it by metrics, which are not in history; revision ${scaler.revision} is the last that wrote to it before.`,
  );
};

const ROLES = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' };

/** An aggregated role has the rules of all roles with certain labels. */
const aggregated: Rule = async (effect, past) => {
  const selectors = objectsOf(objectAt(effect.is, 'aggregationRule').clusterRoleSelectors);
  if (effect.key.resource !== ROLES.resource || selectors.length === 0 || effect.verb !== 'update')
    return undefined;
  if (controllerOf(effect) !== 'clusterrole-aggregation-controller') return undefined;
  const own = await newestOwn(
    past,
    effect,
    (write) => !isBySame(write, effect) && changesField(write, 'aggregationRule'),
  );
  const role = await newestOf(
    past.ofResource(ROLES, '', { before: effect.revision }),
    (write) =>
      write.key.name !== effect.key.name &&
      (write.verb !== 'update' ||
        changesField(write, 'rules') ||
        changesField(write, 'metadata', 'labels')) &&
      [write.was, write.is].some((state) => selectors.some((selector) => hasLabels(state, selector))),
  );
  if (role === undefined || role.revision < (own?.revision ?? 0n)) return undefined;
  return cause(
    role,
    'likely',
    `${nameOf(role)} has labels that its aggregationRule selects, and revision ${role.revision} is the last before it that changed such a role.`,
  );
};

function hasLabels(state: JsonObject | undefined, selector: JsonObject): boolean {
  const wanted = Object.entries(objectAt(selector, 'matchLabels'));
  return wanted.length > 0 && wanted.every(([name, value]) => labelOf(state, name) === stringOf(value));
}

/** What a quota's names count, where these name no resources. */
const COUNTED: Readonly<Record<string, GroupResource>> = {
  cpu: { group: '', resource: 'pods' },
  memory: { group: '', resource: 'pods' },
  'requests.storage': { group: '', resource: 'persistentvolumeclaims' },
};

function countedBy(name: string): GroupResource {
  const [resource = '', ...group] = name.replace(/^count\//, '').split('.');
  const known = COUNTED[name] ?? COUNTED[name.replace(/^(requests|limits)\./, '')];
  return known ?? { group: group.join('.'), resource };
}

/** A quota's count follows creations and ends; admission charges it ahead of the write. */
const counted: Rule = async (effect, past) => {
  if (effect.key.resource !== 'resourcequotas' || changesField(effect, 'spec')) return undefined;
  const was = objectAt(effect.was, 'status', 'used');
  const is = objectAt(effect.is, 'status', 'used');
  const name = Object.keys(was).find((key) => !equal(was[key], is[key]));
  if (name === undefined) return undefined;
  const rises = nanosOf(is[name]) > nanosOf(was[name]);
  if (rises && effect.user === 'system:apiserver')
    return unknown(
      'Admission charges a quota ahead of the write that it is for, which follows this revision.',
    );
  const { revision: before } = effect;
  const changed = await newestOf(
    past.ofResource(countedBy(name), effect.key.namespace, { before }),
    (write) => (rises ? write.verb === 'create' : endsIt(write)),
  );
  if (changed === undefined) return undefined;
  const what = rises ? 'created' : 'ended';
  return cause(
    changed,
    'likely',
    `It counts ${name}, and revision ${changed.revision} is the last before it that ${what} one of these in its namespace.`,
  );
};

const nanosOf = (value: JsonValue | undefined): bigint => parseQuantity(stringOf(value))?.nanos ?? 0n;

const endsIt = ({ verb, was, is }: PastWrite): boolean =>
  verb === 'delete' || (verb === 'update' && isFinished(is) && !isFinished(was));

const BINDING = [
  ['spec', 'volumeName'],
  ['spec', 'claimRef'],
  ['status', 'phase'],
];

/** A claim and its volume are bound to each other. */
const bound: Rule = async (effect, past) => {
  const { resource } = effect.key;
  if (resource !== 'persistentvolumes' && resource !== 'persistentvolumeclaims') return undefined;
  if (effect.verb === 'delete' || !BINDING.some((path) => changesField(effect, ...path))) return undefined;
  const other = resource === 'persistentvolumes' ? claimOf(effect) : volumeOf(effect);
  if (other === undefined) return undefined;
  const answered = await newestOf(
    past.ofName(other, { before: effect.revision }),
    (write) => !isBySame(write, effect) || changesWanted(write),
  );
  const own = await newestOwn(past, effect, (write) => !isBySame(write, effect));
  if (answered === undefined || answered.revision < (own?.revision ?? 0n)) return undefined;
  return cause(
    answered,
    'likely',
    `It is bound to ${nameOf(answered)}, which revision ${answered.revision} wrote.`,
  );
};

function claimOf({ key, is }: PastWrite): ObjectKey | undefined {
  const { name, namespace } = objectAt(is, 'spec', 'claimRef');
  if (name === undefined) return undefined;
  return { ...key, resource: 'persistentvolumeclaims', namespace: stringOf(namespace), name: stringOf(name) };
}

function volumeOf({ key, is }: PastWrite): ObjectKey | undefined {
  const name = stringOf(specOf(is).volumeName);
  return name === '' ? undefined : { ...key, resource: 'persistentvolumes', namespace: '', name };
}

/** A node is called unknown once the lease by which it shows its life was not renewed. */
const nodeSilent: Rule = async (effect, past) => {
  const isLifecycle = ['node-controller', 'node-lifecycle-controller'].includes(controllerOf(effect));
  if (!isLifecycle || effect.key.resource !== 'nodes' || effect.verb !== 'update') return undefined;
  if (!JSON.stringify(statusOf(effect.is).conditions ?? '').includes('NodeStatusUnknown')) return undefined;
  const key = {
    group: 'coordination.k8s.io',
    resource: 'leases',
    namespace: 'kube-node-lease',
    name: effect.key.name,
  };
  const renewed = await newestOf(past.ofName(key, { before: effect.revision }), () => true);
  if (renewed === undefined) return undefined;
  return cause(
    renewed,
    'likely',
    `The node is called unknown because its lease was not renewed any more; revision ${renewed.revision} did so last.`,
  );
};

export const tied: Rule = firstOf(
  madeWithNamespace,
  tokenMade,
  eventRecorded,
  endpointsWritten,
  autoscaled,
  aggregated,
  counted,
  bound,
  nodeSilent,
);
