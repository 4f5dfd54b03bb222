import type { GroupResource } from '../../api/names.ts';
import { toQualifiedResource } from '../../api/names.ts';
import type { ApiObject, JsonObject, ObjectMeta } from '../../api/object-meta.ts';
import { copyJson } from '../../object/equality.ts';
import { isObject, objectAt, setField, stringOf } from '../../object/json-values.ts';
import type { Path } from './restored-paths.ts';

/** Computes the object to write from an earlier state: which fields come back, and which stay. */

export interface Traits extends GroupResource {
  /** The status has a subresource of its own, and is not restored: it describes the present. */
  readonly hasStatus: boolean;
}

/** Metadata that a path may name. The server sets the rest. */
const RESTORED_METADATA: ReadonlySet<string> = new Set([
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
]);

/** Why no object can restore a path; undefined: the path is allowed. */
export function whyNot([first, second]: Path, { hasStatus }: Traits): string | undefined {
  const name = first?.kind === 'field' ? first.name : '';
  if (name === '') return 'a path begins with a field, such as spec';
  if (name === 'kind' || name === 'apiVersion') return 'it says what the object is';
  if (name === 'status' && hasStatus) return 'the status tells of what is now, and is not restored';
  if (name !== 'metadata') return undefined;
  if (second?.kind === 'field' && RESTORED_METADATA.has(second.name)) return undefined;
  return 'of metadata, labels, annotations, finalizers and ownerReferences can be restored';
}

/**
 * Annotations in which controllers keep their findings. Users did not set them, and they are wrong for another object
 * of the same name.
 */
const OF_CONTROLLERS: readonly string[] = [
  'deployment.kubernetes.io/revision',
  'pv.kubernetes.io/bind-completed',
  'pv.kubernetes.io/bound-by-controller',
  'pv.kubernetes.io/provisioned-by',
  'volume.beta.kubernetes.io/storage-provisioner',
  'volume.kubernetes.io/selected-node',
  'volume.kubernetes.io/storage-provisioner',
];

/** Fields of the spec that the cluster chooses and that never change afterwards. */
const CHOSEN: ReadonlyMap<string, readonly string[]> = new Map([
  ['services', ['clusterIP', 'clusterIPs']],
  ['pods', ['nodeName']],
  ['persistentvolumeclaims', ['volumeName']],
]);

/**
 * Returns a live object with the earlier fields, labels and annotations. Keeps owners and finalizers, which controllers
 * have set since. Shares no part with either argument.
 */
export function toUpdate(live: ApiObject, then: ApiObject, traits: Traits): ApiObject {
  const { kind, apiVersion, metadata, status } = live;
  const { kind: _, apiVersion: __, metadata: before, status: oldStatus, ...rest } = copyJson(then);
  const object: ApiObject = { kind, apiVersion, metadata: { ...metadata }, ...rest };
  setMap(object.metadata, 'labels', before.labels);
  setMap(object.metadata, 'annotations', withAnnotationsOf(metadata.annotations, before.annotations));
  const kept = traits.hasStatus ? copyJson(status) : oldStatus;
  if (kept !== undefined) object.status = kept;
  keepChosen({ object, live, isReplaced: live.metadata.uid !== before.uid }, traits);
  return object;
}

function setMap(
  metadata: ObjectMeta,
  field: 'labels' | 'annotations',
  value: Record<string, string> | undefined,
): void {
  if (value === undefined) delete metadata[field];
  else metadata[field] = value;
}

type Annotations = Record<string, string> | undefined;

/** Returns `then` with the controllers' annotations of `live`. */
function withAnnotationsOf(live: Annotations, then: Annotations): Annotations {
  const annotations = withoutControllers(then) ?? {};
  for (const name of OF_CONTROLLERS) {
    const value = live?.[name];
    if (value !== undefined) annotations[name] = value;
  }
  const hasAny = Object.keys(annotations).length > 0 || (then !== undefined && live !== undefined);
  return hasAny ? annotations : undefined;
}

function withoutControllers(annotations: Annotations): Annotations {
  if (annotations === undefined) return undefined;
  const kept = { ...annotations };
  for (const name of OF_CONTROLLERS) delete kept[name];
  return kept;
}

function keepChosen(
  { object, live, isReplaced }: { object: ApiObject; live: ApiObject; isReplaced: boolean },
  traits: Traits,
): void {
  const resource = toQualifiedResource(traits);
  // A namespace's spec contains only the finalizer of its controller.
  if (resource === 'namespaces') keep(object, live, 'spec');
  if (resource === 'jobs.batch' && isReplaced) keepJobSelector(object, live);
  const spec = objectAt(object, 'spec');
  const own = objectAt(live, 'spec');
  // A service without an address then, such as an ExternalName, gets none.
  for (const field of CHOSEN.get(resource) ?? [])
    if (own[field] !== undefined && (spec[field] !== undefined || resource !== 'services'))
      keep(spec, own, field);
}

function keep(object: JsonObject, live: JsonObject, field: string): void {
  const value = copyJson(live[field]);
  if (value === undefined) delete object[field];
  else setField(object, field, value);
}

/** Returns a new object like an earlier one, without fields that the server sets or that the cluster assigned. */
export function toCreate(then: ApiObject, traits: Traits): ApiObject {
  const { kind, apiVersion, metadata, status, ...rest } = copyJson(then);
  const { name, namespace, generateName, labels, ownerReferences } = metadata;
  const annotations = withoutControllers(metadata.annotations);
  const finalizers = metadata.finalizers?.filter((one) => !ENDINGS.has(one));
  const object: ApiObject = {
    kind,
    apiVersion,
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(generateName === undefined ? {} : { generateName }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
      ...(finalizers === undefined || finalizers.length === 0 ? {} : { finalizers }),
    },
    ...rest,
    ...(traits.hasStatus || status === undefined ? {} : { status }),
  };
  const resource = toQualifiedResource(traits);
  if (resource === 'namespaces') delete object.spec;
  if (resource === 'jobs.batch') forgetJobSelector(object);
  return object;
}

/** Finalizers that only say how an object is being deleted. */
const ENDINGS: ReadonlySet<string> = new Set(['foregroundDeletion', 'orphan']);

const JOB_LABELS: readonly string[] = [
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
  'controller-uid',
  'job-name',
];

/** A job selects its pods by its own uid: the server makes a selector for the new one. */
function forgetJobSelector(job: ApiObject): void {
  const spec = objectAt(job, 'spec');
  if (spec.manualSelector === true) return;
  delete spec.selector;
  const { metadata } = objectAt(spec, 'template');
  for (const labels of [objectAt({ metadata }, 'metadata', 'labels'), job.metadata.labels ?? {}])
    for (const name of JOB_LABELS) delete labels[name];
}

function keepJobSelector(job: ApiObject, live: ApiObject): void {
  if (objectAt(job, 'spec').manualSelector === true) return;
  forgetJobSelector(job);
  keep(objectAt(job, 'spec'), objectAt(live, 'spec'), 'selector');
  const template = objectAt(job, 'spec', 'template');
  const metadata = objectAt(template, 'metadata');
  const labels = objectAt(metadata, 'labels');
  const own = objectAt(live, 'spec', 'template', 'metadata', 'labels');
  for (const name of JOB_LABELS) if (own[name] !== undefined) labels[name] = own[name];
  if (!isObject(template.metadata)) template.metadata = metadata;
  metadata.labels = labels;
}

/** Removes values that the cluster assigned, and may have assigned to another object since. Returns them in words. */
export function giveUp(object: ApiObject, fields: readonly string[]): readonly string[] {
  const spec = objectAt(object, 'spec');
  const given: string[] = [];
  const drop = (from: JsonObject, field: string, path: string): void => {
    const value = from[field];
    if (value === undefined || value === 0 || value === '' || value === 'None') return;
    given.push(`${path} ${stringOf(value)}`);
    delete from[field];
  };
  if (fields.some((field) => field.startsWith('spec.clusterIP'))) {
    drop(spec, 'clusterIPs', 'spec.clusterIPs');
    delete spec.clusterIP;
  }
  if (fields.includes('spec.healthCheckNodePort'))
    drop(spec, 'healthCheckNodePort', 'spec.healthCheckNodePort');
  const ports = Array.isArray(spec.ports) ? spec.ports : [];
  for (const [at, port] of ports.entries()) {
    const path = `spec.ports[${at}].nodePort`;
    if (fields.includes(path) && isObject(port)) drop(port, 'nodePort', path);
  }
  return given;
}
