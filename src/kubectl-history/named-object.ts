import { toQualifiedResource } from '../api/names.ts';
import type { Resource, Resources } from './found-resources.ts';
import { UsageError } from './usage-error.ts';

/** The words of a command that name a type, or one object of it. */
export interface Named {
  readonly resource: Resource;
  readonly name: string | undefined;
}

export interface NamedObject extends Named {
  readonly name: string;
}

/**
 * `deploy/web`, `deploy web`, `deploy`. Undefined: no words.
 * @throws UsageError
 */
export async function readNamed(words: readonly string[], resources: Resources): Promise<Named | undefined> {
  const [first, second, ...others] = words;
  if (first === undefined) return undefined;
  const slash = first.indexOf('/');
  const extra = slash < 0 ? others : words.slice(1);
  if (extra.length > 0) throw new UsageError(`one object at a time: ${JSON.stringify(extra[0])} is too many`);
  const [word, name] = slash < 0 ? [first, second] : [first.slice(0, slash), first.slice(slash + 1)];
  if (word === '') throw new UsageError(`${JSON.stringify(first)} names no resource type: write deploy/web`);
  if (name === '' || name?.includes('/')) {
    throw new UsageError(`${JSON.stringify(words.join(' '))} is no name of an object: write deploy/web`);
  }
  return { resource: await resources.find(word), name };
}

/** @throws UsageError when the words name no object */
export async function readObject(
  command: string,
  words: readonly string[],
  resources: Resources,
): Promise<NamedObject> {
  const named = await readNamed(words, resources);
  if (named === undefined)
    throw new UsageError(`${command} needs an object: kubectl history ${command} deploy/web`);
  const { resource, name } = named;
  if (name === undefined) {
    throw new UsageError(
      `${command} needs the name of one of the ${resource.resource}: ${resource.resource}/NAME`,
    );
  }
  return { resource, name };
}

/** The reference of an object in history: `deployments.apps:default:web`, `nodes::n1`. */
export const toReference = ({ resource, name }: NamedObject, namespace: string): string =>
  `${toQualifiedResource(resource)}:${resource.isNamespaced ? namespace : ''}:${name}`;

/** The path of an object, or of all objects of a type. */
export function pathOf({ resource, name }: Named, namespace: string | undefined): string {
  const { group, version, isNamespaced } = resource;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = isNamespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${root}${scope}/${resource.resource}${object}`;
}

/** `deployment.apps/web`, as kubectl names objects. */
export function toShortName(object: {
  group?: string;
  kind?: string;
  resource?: string;
  name?: string;
}): string {
  const { group = '', kind = '', resource = '', name = '' } = object;
  const singular = kind === '' ? resource : kind.toLowerCase();
  return `${group === '' ? singular : `${singular}.${group}`}/${name}`;
}
