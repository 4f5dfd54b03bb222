import { canonicalGroup } from '../../api/dialect.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { type FieldError, invalid, type StatusError } from '../../api/status.ts';
import type { Restore, RestoredObject, RestoreSpec } from '../../api/types/history/v1alpha1.ts';
import { boundedProblems } from '../../object/field-errors.ts';
import { type FieldPath, problemsOf } from '../../object/field-path.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import { type AsOf, toAsOf } from '../../verbs/as-of.ts';
import { type Path, parsePath } from './restored-paths.ts';
import { whyNot } from './restored-state.ts';
import { traitsOf } from './traits.ts';

/** The parsed spec of a Restore. */
export interface Wish {
  /** The name of the Restore itself. */
  readonly name: string;
  readonly what: WishedObject | WishedNamespace;
  readonly to: AsOf;
}

export interface WishedObject {
  readonly kind: 'object';
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  /** Undefined: the whole object. */
  readonly paths: readonly Path[] | undefined;
  /** The same paths as the user wrote them. */
  readonly pathTexts: readonly string[];
  readonly withDependents: boolean;
}

export interface WishedNamespace {
  readonly kind: 'namespace';
  readonly name: string;
}

/** A 422 that names fields of a Restore. */
export const invalidRestore = (name: string, errors: readonly FieldError[]): StatusError =>
  invalid({ kind: 'Restore', group: 'history.cluster.io' }, name, errors);

/** @throws StatusError 422 */
export function readWish(restore: ApiObject, registry: Registry): Wish {
  // The body was decoded as a Restore.
  const { metadata, spec = {} } = restore as Restore;
  const { name = '' } = metadata;
  let wish: Wish | undefined;
  const read = (at: FieldPath): void => {
    const what = readWhat(at, spec, registry);
    const to = readMoment(at.field('to'), spec.to ?? '');
    if (what !== undefined && to !== undefined) wish = { name, what, to };
  };
  const errors = boundedProblems(() => problemsOf(read, 'spec'));
  if (errors.length > 0 || wish === undefined) throw invalidRestore(name, errors);
  return wish;
}

function readMoment(at: FieldPath, text: string): AsOf | undefined {
  if (text === '') {
    at.required('a revision, or a moment such as 2026-01-31T12:00:00Z');
    return undefined;
  }
  const asOf = toAsOf(text);
  if (typeof asOf !== 'string') return asOf;
  at.invalid(text, asOf);
  return undefined;
}

function readWhat(at: FieldPath, spec: RestoreSpec, registry: Registry): Wish['what'] | undefined {
  const { object, namespace = '', paths, withDependents = false } = spec;
  if (object === undefined && namespace === '') at.field('object').required('or a namespace');
  else if (object !== undefined && namespace !== '')
    at.field('namespace').forbidden('may not be given beside object');
  else if (object === undefined) {
    if (hasAny(paths)) at.field('paths').forbidden('a namespace is restored whole');
    return { kind: 'namespace', name: namespace };
  } else {
    if (hasAny(paths) && withDependents)
      at.field('withDependents').forbidden('may not be given beside paths');
    const named = readObject(at.field('object'), object, registry);
    if (named === undefined) return undefined;
    return {
      kind: 'object',
      ...named,
      paths: readPaths(at, paths, named.definition),
      pathTexts: paths ?? [],
      withDependents,
    };
  }
  return undefined;
}

const hasAny = (paths: readonly string[] | null | undefined): boolean => (paths ?? []).length > 0;

type Named = Pick<WishedObject, 'definition' | 'namespace' | 'name'>;

function readObject(at: FieldPath, object: RestoredObject, registry: Registry): Named | undefined {
  const { group = '', resource = '', namespace = '', name = '' } = object;
  const before = at.found;
  if (name === '') at.field('name').required();
  const definition = resource === '' ? undefined : findStored(registry, group, resource);
  const resourceAt = at.field('resource');
  if (resource === '') resourceAt.required();
  else if (resource.includes('/')) resourceAt.invalid(resource, 'a subresource has no past of its own');
  else if (definition === undefined) resourceAt.invalid(resource, unknown(registry, group, resource));
  else if (!isRestorable(definition))
    resourceAt.invalid(resource, 'its objects cannot be created or updated');
  else if (definition.namespaced && namespace === '') at.field('namespace').required();
  else if (!definition.namespaced && namespace !== '')
    at.field('namespace').forbidden(`${resource} are in no namespace`);
  return definition === undefined || at.found > before ? undefined : { definition, namespace, name };
}

export const isRestorable = ({ verbs }: ResourceDefinition): boolean =>
  ['get', 'create', 'update'].every((verb) => verbs.some((one) => one === verb));

function findStored(registry: Registry, given: string, resource: string): ResourceDefinition | undefined {
  const { group } = canonicalGroup(given);
  for (const version of registry.versions(group)) {
    const served = registry.find(group, version, resource);
    if (served !== undefined) return registry.findStorage(served.definition.storage);
  }
  return undefined;
}

function unknown(registry: Registry, group: string, resource: string): string {
  const elsewhere = registry
    .groups()
    .map((one) => one.group)
    .filter((one) => one !== group && findStored(registry, one, resource) !== undefined);
  const where = group === '' ? 'the core group' : `group ${JSON.stringify(group)}`;
  if (elsewhere.length > 0)
    return `${where} has no such resource; group ${elsewhere.map((one) => JSON.stringify(one)).join(' and ')} has`;
  // Groups of custom resources contain a dot.
  const definition = `customresourcedefinitions ${resource}.${group}`;
  const hint = group.includes('.') ? `; if a definition made it, restore ${definition} first` : '';
  return `${where} has no such resource${hint}`;
}

/** Undefined: the whole object is restored. */
function readPaths(
  at: FieldPath,
  texts: readonly string[] | null | undefined,
  definition: ResourceDefinition,
): readonly Path[] | undefined {
  if (texts === undefined || texts === null || texts.length === 0) return undefined;
  const paths: Path[] = [];
  if (texts.length > MOST_PATHS) {
    at.field('paths').tooMany(texts.length, MOST_PATHS);
    return paths;
  }
  const sizeBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (sizeBytes > MOST_BYTES_OF_PATHS) {
    at.field('paths').tooLong(MOST_BYTES_OF_PATHS);
    return paths;
  }
  for (const [path, text] of at.field('paths').each(texts)) {
    if (Buffer.byteLength(text) > MOST_PATH_BYTES) {
      path.tooLong(MOST_PATH_BYTES);
      continue;
    }
    const parsed = parsePath(text);
    const why = parsed === undefined ? NO_PATH : whyNot(parsed, traitsOf(definition));
    if (why !== undefined) path.invalid(text, why);
    else if (parsed !== undefined) paths.push(parsed);
  }
  return paths;
}

/** Larger restores should take the whole object. */
const MOST_PATHS = 1000;

/** Enough for a dozen annotation keys of the greatest length. */
const MOST_PATH_BYTES = 4096;

/** All paths together: a thousand of usual length, which are parsed in less than 10 ms. */
const MOST_BYTES_OF_PATHS = 256 * 1024;

const NO_PATH =
  'must be a path such as spec.template.spec.containers[name=web].image; leave paths out to restore all';
