import { canonicalGroup, type Dialect } from '../api/dialect.ts';
import type { ResourceTarget } from '../request/api-request.ts';

/** The meaning of a path and a method, without the registry (Kubernetes: endpoints/request, RequestInfo). */
export interface RequestInfo {
  readonly verb: string;
  readonly target: ResourceTarget | undefined;
  readonly dialect: Dialect;
}

/** A Map rather than an object, because callers choose methods: HTTP/2 accepts any word, `constructor` too. */
const METHOD_VERBS: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

/** Subresources of a namespace itself, in the place where a path has a resource in the namespace. */
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'finalize']);

/** `path` is decoded. */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = path.split('/').filter((part) => part !== '');
  const nonResource = { verb: method.toLowerCase(), target: undefined, dialect: 'k8s.io' } as const;
  const [root, ...rest] = parts;
  if (root === 'api' && rest.length >= 2) {
    return parseResource(method, {
      group: '',
      version: rest[0] ?? '',
      parts: rest.slice(1),
      query,
      dialect: 'k8s.io',
    });
  }
  if (root !== 'apis' || rest.length < 3) return nonResource;
  const { group, dialect } = canonicalGroup(rest[0] ?? '');
  return parseResource(method, {
    group,
    version: rest[1] ?? '',
    parts: rest.slice(2),
    query,
    dialect: dialect ?? 'k8s.io',
  });
}

interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly dialect: Dialect;
}

function parseResource(method: string, path: ResourcePath): RequestInfo {
  const { group, version, query, dialect } = path;
  // The old form of a watch, which clients still use.
  const oldWatch = path.parts[0] === 'watch';
  const { namespace, parts } = splitNamespace(oldWatch ? path.parts.slice(1) : path.parts);
  const [resource = '', name = '', subresource = '', ...subpath] = parts;
  const target = { group, version, resource, namespace, subresource, subpath: subpath.join('/') };
  const verb = verbOf(method, { name, oldWatch, watch: isTrue(query.get('watch')), subresource });
  return { verb, target: { ...target, name: name === '' ? namedByQuery(verb, query) : name }, dialect };
}

function splitNamespace(parts: readonly string[]): { namespace: string; parts: readonly string[] } {
  const [first, namespace, third] = parts;
  if (first !== 'namespaces' || namespace === undefined) return { namespace: '', parts };
  const own = third === undefined || NAMESPACE_SUBRESOURCES.has(third);
  return own ? { namespace, parts } : { namespace, parts: parts.slice(2) };
}

interface VerbHints {
  readonly name: string;
  readonly oldWatch: boolean;
  readonly watch: boolean;
  readonly subresource: string;
}

function verbOf(method: string, { name, oldWatch, watch, subresource }: VerbHints): string {
  const verb = METHOD_VERBS.get(method) ?? method.toLowerCase();
  if (oldWatch) return 'watch';
  if (verb === 'get' && watch && subresource === '') return 'watch';
  if (name !== '') return verb;
  if (verb === 'get') return 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

const isTrue = (value: string | null): boolean =>
  value !== null && value !== '0' && value.toLowerCase() !== 'false';

/** A list of one object by its name is authorized as access to that object. */
function namedByQuery(verb: string, query: URLSearchParams): string {
  if (verb !== 'list' && verb !== 'watch') return '';
  const match = /(?:^|,)metadata\.name==?([^,!=\\]+)(?:,|$)/.exec(query.get('fieldSelector') ?? '');
  return match?.[1] ?? '';
}
