import type { TypeLibrary } from '../api/idl/types.ts';
import type { JsonObject } from '../api/object-meta.ts';
import type { OpenApiVersion } from './openapi-schema.ts';

/**
 * Parameters of operations with the texts that clients show for them. Version 2 writes each once and refers to it, because its
 * document has them some ten thousand times; version 3 has a document for each group.
 */

export type ParameterType = 'string' | 'integer' | 'boolean';

interface Described {
  readonly type: ParameterType;
  readonly in: 'path' | 'query';
  readonly text: string;
}

const query = (type: ParameterType, text: string): Described => ({ type, in: 'query', text });
const inPath = (text: string): Described => ({ type: 'string', in: 'path', text });

const OBJECTS: Readonly<Record<string, Described>> = {
  namespace: inPath('The namespace of the object, or the one in which objects are looked for.'),
  pretty: query(
    'string',
    'Whether JSON is indented: true or false. Browsers and curl get it indented unless they say false.',
  ),
  dryRun: query(
    'string',
    'Checks and admits the request, and answers what would be, without storing it. The only value is All: every stage of the request runs.',
  ),
  fieldManager: query(
    'string',
    'The name under which the fields that the request changes are owned: at most 128 printable characters. Server-side apply requires it; other requests take the part of User-Agent before the first slash.',
  ),
  fieldValidation: query(
    'string',
    'What happens to fields that the type does not have, or that the body repeats. Ignore: they are dropped. Warn (the default): they are dropped, and a warning names each. Strict: the request is refused with a 400 that names all.',
  ),
  force: query(
    'boolean',
    'For server-side apply alone: take over the fields of the configuration that other managers own with another value, in place of a 409.',
  ),
  asOf: query('string', 'The past that is asked for: a resourceVersion, or a time in RFC 3339.'),
};

/** A parameter since Kubernetes 1.36. */
export const SHARD_SELECTOR = 'shardSelector';

export const takesShards = (types: TypeLibrary): boolean =>
  types.message('meta/v1.ListOptions').fields.has(SHARD_SELECTOR);

const LISTS: Readonly<Record<string, Described>> = {
  allowWatchBookmarks: query(
    'boolean',
    'Asks a watch for events of type BOOKMARK, which carry a resourceVersion to continue from and no change. The server decides when it sends them. Without watch it has no meaning.',
  ),
  continue: query(
    'string',
    'The token from metadata.continue of the page before, together with the selectors of that request. It shows the list as it was at the first page. After a 410 with reason Expired begin again, or go on with the token in that answer, whose pages are as of now.',
  ),
  fieldSelector: query(
    'string',
    'Restricts the result to objects whose fields have these values: metadata.name=a,status.phase!=Running. Default: all objects.',
  ),
  labelSelector: query(
    'string',
    'Restricts the result to objects with these labels: app=web,tier in (a,b),!old. Default: all objects.',
  ),
  limit: query(
    'integer',
    'The most objects of one page. Where more are left, metadata.continue of the answer has the token for the next page. Default, and 0: all objects at once.',
  ),
  resourceVersion: query(
    'string',
    'Where a watch begins, or how old an answer may be. Absent: the newest state. 0: any state that the server knows. Otherwise: not older than this version, or exactly as resourceVersionMatch says.',
  ),
  resourceVersionMatch: query(
    'string',
    'How a list uses resourceVersion, which it requires. NotOlderThan: this version or a newer one. Exact: this version, or a 410 where it is compacted.',
  ),
  sendInitialEvents: query(
    'boolean',
    'Begins a watch with an ADDED event for each object that there is; a BOOKMARK with the annotation k8s.io/initial-events-end marks their end. It requires resourceVersionMatch=NotOlderThan, and allowWatchBookmarks for the mark.',
  ),
  [SHARD_SELECTOR]: query(
    'string',
    "Restricts the result to a part of the objects: shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000'). Several, of the same field, are joined by ||. It requires the feature gate ShardedListAndWatch and has no meaning without it.",
  ),
  timeoutSeconds: query(
    'integer',
    'After how many seconds the list or the watch ends, also while there are changes.',
  ),
  watch: query(
    'boolean',
    'Answers a stream of events, one for each object that is added, modified or deleted, in place of a list. Begin at the resourceVersion of a list.',
  ),
};

const DELETIONS: Readonly<Record<string, Described>> = {
  gracePeriodSeconds: query(
    'integer',
    'How long the object may take to end before it is removed, in seconds, from 0, which removes it at once. Absent: what its type, or its spec, says.',
  ),
  ignoreStoreReadErrorWithClusterBreakingPotential: query(
    'boolean',
    'Deletes an object whose stored bytes cannot be read, without its finalizers and preconditions. What it stood for may be left behind: use it only where nothing else helps. It requires the right to unsafe-delete-ignore-read-errors.',
  ),
  orphanDependents: query(
    'boolean',
    'Deprecated, use propagationPolicy. true leaves the dependents of the object where they are; false deletes them. Not together with propagationPolicy.',
  ),
  propagationPolicy: query(
    'string',
    'What becomes of dependents. Orphan: they stay. Background: the garbage collector deletes them later. Foreground: the object stays until those that block it are deleted. Default: what its type, or its finalizers, say.',
  ),
};

const CONTAINER = 'The container of the pod. It may be left out where the pod has only one.';

/** By subresource and parameter: `exec.stdin`. */
const CONNECTIONS: Readonly<Record<string, Described>> = {
  'exec.command': query(
    'string',
    'The program to run and its arguments, one for each occurrence. No shell is between.',
  ),
  'exec.container': query('string', CONTAINER),
  'exec.stdin': query('boolean', 'Connects the standard input of the command with the client.'),
  'exec.stdout': query('boolean', 'Sends the standard output of the command to the client.'),
  'exec.stderr': query('boolean', 'Sends the standard error of the command to the client.'),
  'exec.tty': query('boolean', 'Gives the command a terminal, so that its errors come with its output.'),
  'attach.container': query('string', CONTAINER),
  'attach.stdin': query('boolean', 'Connects the standard input of the running container with the client.'),
  'attach.stdout': query('boolean', 'Sends the standard output of the running container to the client.'),
  'attach.stderr': query('boolean', 'Sends the standard error of the running container to the client.'),
  'attach.tty': query('boolean', 'Gives the client the terminal of a container that was started with one.'),
  'log.container': query('string', CONTAINER),
  'log.follow': query('boolean', 'Keeps the answer open, and sends what the container writes from now on.'),
  'log.insecureSkipTLSVerifyBackend': query(
    'boolean',
    'Does not verify the certificate of the kubelet, which another host could then imitate.',
  ),
  'log.limitBytes': query('integer', 'Ends the answer after so many bytes, maybe within a line.'),
  'log.previous': query('boolean', 'The log of the container before its last restart.'),
  'log.sinceSeconds': query('integer', 'Lines of the last seconds alone. Not together with sinceTime.'),
  'log.sinceTime': query('string', 'Lines from this time on, in RFC 3339. Not together with sinceSeconds.'),
  'log.stream': query('string', 'Which output of the container: All, Stdout or Stderr.'),
  'log.tailLines': query(
    'integer',
    'So many lines from the end. Default: from the beginning of the container.',
  ),
  'log.timestamps': query('boolean', 'Begins each line with its time in RFC 3339.'),
  'portforward.ports': query('integer', 'The ports of the pod to connect with. Websockets require them.'),
  'proxy.path': query(
    'string',
    'The path of the request that the pod, the node or the service behind the proxy gets.',
  ),
};

const PROXY_PATH = 'proxy.path-in-path';

const ALL: Readonly<Record<string, Described>> = {
  ...OBJECTS,
  ...LISTS,
  ...DELETIONS,
  ...CONNECTIONS,
  [PROXY_PATH]: inPath('The path of the request behind the proxy.'),
  logpath: inPath('The path of the log file.'),
};

const nameOf = (key: string): string => (key === PROXY_PATH ? 'path' : key.slice(key.indexOf('.') + 1));

const REFERENCES = new Map(Object.keys(ALL).map((key) => [key, { $ref: `#/parameters/${key}` }]));

export type NamedParameter = readonly [name: string, type: ParameterType];

/** The parameters of lists, watches and deletions of collections. */
export const LIST_PARAMETERS: readonly NamedParameter[] = [
  ['allowWatchBookmarks', 'boolean'],
  ['continue', 'string'],
  ['fieldSelector', 'string'],
  ['labelSelector', 'string'],
  ['limit', 'integer'],
  ['resourceVersion', 'string'],
  ['resourceVersionMatch', 'string'],
  ['sendInitialEvents', 'boolean'],
  [SHARD_SELECTOR, 'string'],
  ['timeoutSeconds', 'integer'],
  ['watch', 'boolean'],
];

/** The parameters that version 2 refers to. */
export const sharedParameters = (sharded: boolean): JsonObject =>
  Object.fromEntries(
    Object.entries(ALL)
      .filter(([key]) => sharded || key !== SHARD_SELECTOR)
      .map(([key, { text, type, in: where }]) => [
        key,
        write('v2', { name: nameOf(key), type, where, text }),
      ]),
  );

interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly where: 'path' | 'query';
  readonly text: string | undefined;
}

function write(version: OpenApiVersion, { name, type, where, text }: Parameter): JsonObject {
  const common = {
    ...(text === undefined ? {} : { description: text }),
    name,
    in: where,
    ...(where === 'path' ? { required: true } : {}),
  };
  return version === 'v2'
    ? { ...common, type, uniqueItems: true }
    : { ...common, schema: { type, uniqueItems: true } };
}

/** `of`: the subresource that takes the parameter, where the same name means something else elsewhere. */
export function parameter(
  version: OpenApiVersion,
  name: string,
  type: ParameterType,
  { where, of = '' }: { readonly where: 'path' | 'query'; readonly of?: string },
): JsonObject {
  const own = where === 'path' && name === 'path' ? PROXY_PATH : `${of}.${name}`;
  const key = ALL[own] === undefined ? name : own;
  const known = ALL[key];
  const fits = known !== undefined && known.type === type && known.in === where;
  if (!fits) return write(version, { name, type, where, text: OWN[name] });
  const reference = version === 'v2' ? REFERENCES.get(key) : undefined;
  return reference ?? write(version, { name, type, where, text: known.text });
}

/** Parameters of few resources. */
const OWN: Readonly<Record<string, string>> = {
  since: 'The oldest change that is asked for: a resourceVersion, or a time in RFC 3339.',
  until: 'The newest change that is asked for: a resourceVersion, or a time in RFC 3339.',
};

/** The path parameter `name`, described by kind. */
export const nameParameter = (version: OpenApiVersion, kind: string): JsonObject =>
  write(version, { name: 'name', type: 'string', where: 'path', text: `The name of the ${kind}.` });
