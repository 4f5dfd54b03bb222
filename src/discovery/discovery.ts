import { Hono } from 'hono';
import { canonicalGroup, type Dialect, dialectGroup } from '../api/dialect.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { JsonObject } from '../api/object-meta.ts';
import { methodNotAllowed, pathNotFound } from '../api/status.ts';
import { negotiate, wantsPretty } from '../codec/negotiate.ts';
import { encodeValue } from '../codec/wire-formats.ts';
import { createPages, inPieces, isUnknown, type Pages, unknownPage } from '../pages/pages.ts';
import { allGroups } from '../registry/all-groups.ts';
import type { Registry } from '../registry/registry.ts';
import { NO_REMOTE_APIS, type RemoteApi, type RemoteApis } from '../registry/remote-apis.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { VersionInfo } from '../version.ts';
import { AggregatedDiscovery } from './aggregated.ts';
import { OpenApi } from './openapi.ts';
import type { DocumentKey } from './openapi-document.ts';
import type { OpenApiVersion } from './openapi-schema.ts';
import type { DocumentForm } from './openapi-v2.ts';
import {
  groupVersionOf,
  type ListedGroup,
  listGroups,
  toApiVersions,
  toGroup,
  toGroupList,
  toResourceList,
} from './resource-lists.ts';

interface DiscoveryOptions {
  readonly registry: Registry;
  readonly types: TypeLibrary;
  /** APIs of other servers; none by default. */
  readonly remote?: RemoteApis;
  /** Whether OpenAPI documents list enumerations; true by default. */
  readonly enums?: boolean;
  /** Whether OpenAPI documents name CBOR among the media types. */
  readonly cbor?: boolean;
  /** Whether discovery includes hashes of stored versions; true by default. */
  readonly versionHashes?: boolean;
  /** Whether discovery has its aggregated form in v2beta1, too; true by default. */
  readonly beta?: boolean;
  /** Additional paths in the list of all paths. */
  readonly examinationPages?: readonly string[];
  /** Dialects under which groups are listed, the first one first. */
  readonly domains: readonly Dialect[];
  /** host:port under which clients reach the server. */
  readonly serverAddress: string;
  /** The answer of /version. */
  readonly version: VersionInfo;
  /** Pages of other parts that OpenAPI documents describe; none by default. */
  readonly published?: { readonly issuer: boolean; readonly logs: boolean };
}

/** Kubernetes 1.34 leaves out the time of creation of what has none. */
const writesZeroTimes = ({ minor }: VersionInfo): boolean => Number(minor) < 34;

/** Documents that describe the API: discovery, OpenAPI, /version, the list of paths. */
export function createDiscovery(options: DiscoveryOptions): Pages {
  const discovery = new Discovery(options);
  // Empty parts of a path are ignored: /version/ and //version are /version.
  const pages = createPages((path) => `/${path.split('/').filter(Boolean).join('/')}`);
  pages.use(async (context, next) => {
    await next();
    if (context.req.method !== 'GET' && !isUnknown(context.res)) throw methodNotAllowed();
  });
  return pages
    .all('/', ({ env }) => discovery.paths(env.request))
    .all('/index.html', ({ env }) => discovery.paths(env.request))
    .all('/version', ({ env }) => discovery.version(env.request))
    .all('/version/*', nothingBelow)
    .all('/api', ({ env }) => discovery.coreVersions(env.request))
    .all('/api/v1', ({ env }) => discovery.coreResources(env.request))
    .all('/api/*', nothingBelow)
    .all('/apis', ({ env }) => discovery.groups(env.request))
    .all('/apis/:group', ({ env, req }) => discovery.group(env.request, req.param('group')))
    .all('/apis/:group/:version', ({ env, req }) =>
      discovery.resources(env.request, req.param('group'), req.param('version')),
    )
    .all('/openapi/v2', ({ env }) => discovery.openApiV2(env.request))
    .all('/openapi/v3', ({ env }) => discovery.openApiIndex(env.request))
    .all('/openapi/v3/:path{.+}', ({ env, req }) => discovery.openApiV3(env.request, req.param('path')));
}

/** Refuses an unknown path below a known one. @throws StatusError */
function nothingBelow(): never {
  throw pathNotFound();
}

/** The core group as it is listed, where it is served. */
const CORE = { group: '', dialect: 'k8s.io', name: '', versions: ['v1'], primary: true } as const;

class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #remote: RemoteApis;
  readonly #openApi: OpenApi;
  readonly #hashes: boolean;
  readonly #aggregated: AggregatedDiscovery;
  /** The listed groups, until the registry or another server's APIs change. */
  #listed: Listed | undefined;

  constructor(options: DiscoveryOptions) {
    const { registry, remote = NO_REMOTE_APIS } = options;
    this.#options = options;
    this.#remote = remote;
    const forget = (): void => {
      this.#listed = undefined;
    };
    registry.onChange(forget);
    remote.onChange(forget);
    this.#aggregated = new AggregatedDiscovery(registry, remote, writesZeroTimes(options.version));
    this.#hashes = options.versionHashes ?? true;
    const { gitVersion } = options.version;
    const { issuer = false, logs = false } = options.published ?? {};
    const pages = { issuer, logs, versionFields: Object.keys(options.version) };
    const itemDefaults = Number(options.version.minor) < 36;
    this.#openApi = new OpenApi({ ...options, remote, gitVersion, pages, itemDefaults });
  }

  version(request: ApiRequest): Response {
    return this.#plain(request, this.#options.version, { isIndented: true });
  }

  paths(request: ApiRequest): Response {
    const { keys: own, elsewhere } = this.#list();
    const keys = [...own.keys(), ...elsewhere].map((path) => `/${path}`);
    const groups = [...this.#list().groups.keys()].map((name) => `/apis/${name}`);
    const paths = [
      '/.well-known/openid-configuration',
      '/api',
      '/apis',
      ...keys,
      ...groups,
      ...(this.#options.examinationPages ?? []),
      '/healthz',
      '/livez',
      '/metrics',
      '/openapi/v2',
      '/openapi/v3',
      '/openid/v1/jwks',
      '/readyz',
      '/version',
    ];
    return this.#plain(request, { paths: paths.sort() }, { isIndented: true });
  }

  #list(): Listed {
    if (this.#listed === undefined) {
      const { registry, domains } = this.#options;
      const remote = this.#remote.all();
      const served = listGroups(allGroups(registry, remote), domains);
      this.#listed = toListed(registry.versions(''), served, remote, this.#remote.withdrawn());
    }
    return this.#listed;
  }

  #groups(): ListedGroup[] {
    return [...this.#list().groups.values()];
  }

  coreVersions(request: ApiRequest): Response {
    const { registry, serverAddress } = this.#options;
    const versions = registry.versions('');
    const core = { name: 'core', groups: () => (versions.length === 0 ? [] : [CORE]) };
    return this.#aggregatedOr(request, core, () => toApiVersions(versions, serverAddress));
  }

  coreResources(request: ApiRequest): Response {
    const resources = this.#options.registry.resources('', 'v1');
    if (resources.length === 0) throw pathNotFound();
    return this.#plain(request, toResourceList('v1', resources, { ...CORE, hashes: this.#hashes }), {
      cbor: true,
    });
  }

  groups(request: ApiRequest): Response {
    const named = { name: 'named', groups: () => this.#groups() };
    return this.#aggregatedOr(request, named, () => toGroupList(this.#groups()));
  }

  group(request: ApiRequest, name: string): Response {
    const found = this.#findGroup(name);
    return found === undefined ? unknownPage() : this.#plain(request, toGroup(found));
  }

  resources(request: ApiRequest, name: string, version: string): Response {
    const found = this.#findGroup(name);
    const { registry } = this.#options;
    if (found === undefined || !registry.versions(found.group).includes(version)) {
      if (registry.isBuiltIn(canonicalGroup(name).group)) throw pathNotFound();
      return unknownPage();
    }
    const resources = registry.resources(found.group, version);
    return this.#plain(
      request,
      toResourceList(groupVersionOf(name, version), resources, { ...found, hashes: this.#hashes }),
      { cbor: registry.isBuiltIn(found.group) },
    );
  }

  /** A group that is left out of the list is served nevertheless. */
  #findGroup(name: string): ListedGroup | undefined {
    const listed = this.#list().groups.get(name);
    if (listed !== undefined) return listed;
    const { group, dialect = 'k8s.io' } = canonicalGroup(name);
    const versions = this.#options.registry.versions(group);
    if (versions.length === 0 || group === '') return undefined;
    return { group, versions, dialect, name, primary: false };
  }

  /** Clients ask for the aggregated form first, and accept the plain one instead. */
  #aggregatedOr(
    request: ApiRequest,
    { name, groups }: { readonly name: string; readonly groups: () => readonly ListedGroup[] },
    other: () => JsonObject,
  ): Response {
    const match =
      /application\/json;(?=[^,]*as=APIGroupDiscoveryList)(?=[^,]*g=apidiscovery\.(k8s\.io|cluster\.io))(?=[^,]*v=(v2beta1|v2)\b)/.exec(
        request.headers.accept ?? '',
      );
    const [, domain, version = 'v2'] = match ?? [];
    if (match === null || (version === 'v2beta1' && this.#options.beta === false))
      return this.#plain(request, other());
    const group = dialectGroup('apidiscovery.k8s.io', domain === 'cluster.io' ? 'cluster.io' : 'k8s.io');
    const { bytes, etag } = this.#aggregated.document(`${group}/${version}`, name, groups);
    const type = `application/json;g=${group};v=${version};as=APIGroupDiscoveryList`;
    const head = { ...toHead(etag, type), 'cache-control': 'public' };
    return isKnown(request, etag) ? notModified(head) : new Response(bytes, { headers: head });
  }

  /**
   * Documents with a kind in meta/v1 have a protobuf form too. The resources of a built-in group version alone have one in CBOR: clients that
   * prefer it cannot read the others in it, such as /version (Kubernetes: endpoints/discovery, and the serializers of
   * apiextensions-apiserver for custom ones). `isIndented`: for people, without being asked.
   */
  #plain(
    request: ApiRequest,
    document: JsonObject,
    { isIndented = false, cbor = false }: { readonly isIndented?: boolean; readonly cbor?: boolean } = {},
  ): Response {
    const type = `meta/v1.${String(document.kind)}`;
    const schema = this.#options.types.has(type) ? this.#options.types.message(type) : undefined;
    const pretty = isIndented || wantsPretty(request.query, request.userAgent);
    const representation = negotiate(request.headers.accept, {
      ...{ pretty, protobuf: schema !== undefined },
      cbor: cbor && request.knowsCbor === true,
    });
    return new Response(encodeValue(document, representation, schema), {
      headers: { 'content-type': representation.contentType },
    });
  }

  async openApiV2(request: ApiRequest): Promise<Response> {
    const { form, contentType } = chooseForm(request, 'v2');
    const { etag, pieces } = await this.#openApi.whole([...this.#list().keys.values()], form);
    const head = toHead(etag, contentType);
    return isKnown(request, etag) ? notModified(head) : inPieces(pieces(), head);
  }

  /** The URL identifies the content, so clients may cache it for as long as the URL is listed. */
  async openApiIndex(request: ApiRequest): Promise<Response> {
    const paths: JsonObject = {};
    for (const [path, key] of this.#list().keys) {
      const { etag } = await this.#openApi.groupVersion(key);
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${etag}` };
    }
    for (const [path, pages] of this.#openApi.pages(this.#list().keys.values())) {
      const { name } = await this.#openApi.page(path, pages);
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${name}` };
    }
    for (const [path, serverRelativeURL] of this.#remote.openApiV3()) paths[path] = { serverRelativeURL };
    return this.#plain(request, { paths });
  }

  #document(path: string, form: DocumentForm): ReturnType<OpenApi['groupVersion']> | undefined {
    const { keys } = this.#list();
    const key = keys.get(path);
    if (key !== undefined) return this.#openApi.groupVersion(key, form);
    const pages = this.#openApi.pages(keys.values()).get(path);
    return pages === undefined ? undefined : this.#openApi.page(path, pages, form);
  }

  async openApiV3(request: ApiRequest, path: string): Promise<Response> {
    const { form, contentType } = chooseForm(request, 'v3');
    const document = this.#document(path, form);
    if (document === undefined) return new Response(null, { status: 404 });
    const { etag, name, make } = await document;
    const asked = request.query.get('hash');
    if (asked !== null && asked !== name) {
      const location = `/openapi/v3/${path}?hash=${name}`;
      return new Response(null, { status: 301, headers: { 'content-type': 'text/plain', location } });
    }
    const isLasting = asked !== null;
    const head = {
      ...toHead(etag, contentType),
      ...(isLasting ? { 'cache-control': 'public, immutable' } : {}),
    };
    return isKnown(request, etag) ? notModified(head) : new Response(await make(), { headers: head });
  }
}

interface Listed {
  /** By name. */
  readonly groups: ReadonlyMap<string, ListedGroup>;
  /** Group versions of this server by path. */
  readonly keys: ReadonlyMap<string, DocumentKey>;
  /** Paths of group versions of other servers. */
  readonly elsewhere: readonly string[];
}

function toListed(
  coreVersions: readonly string[],
  groups: readonly ListedGroup[],
  remote: readonly RemoteApi[],
  withdrawn: ReadonlySet<string>,
): Listed {
  const others = new Set(remote.map(({ group, version }) => `${group}/${version}`));
  const named = groups.flatMap(({ group, dialect, name, versions }) =>
    versions.map((version) => ({ path: `apis/${name}/${version}`, group, version, dialect })),
  );
  const core = coreVersions.map(
    (version): DocumentKey => ({ path: `api/${version}`, group: '', version, dialect: 'k8s.io' }),
  );
  const isOther = ({ group, version }: DocumentKey): boolean => others.has(`${group}/${version}`);
  const all = [...core, ...named];
  return {
    groups: new Map(without(withdrawn, groups).map((group) => [group.name, group])),
    keys: new Map(all.filter((key) => !isOther(key)).map((key) => [key.path, key])),
    elsewhere: all.filter(isOther).map(({ path }) => path),
  };
}

function without(withdrawn: ReadonlySet<string>, groups: readonly ListedGroup[]): readonly ListedGroup[] {
  if (withdrawn.size === 0) return groups;
  return groups
    .map((one) => ({
      ...one,
      versions: one.versions.filter((version) => !withdrawn.has(`${one.group}/${version}`)),
    }))
    .filter(({ versions }) => versions.length > 0);
}

/** Clients of the Go library accept only protobuf from /openapi/v2. */
function chooseForm(
  { headers }: ApiRequest,
  version: OpenApiVersion,
): { form: DocumentForm; contentType: string } {
  const clauses = (headers.accept ?? '').split(',').map((clause) => clause.split(';')[0]?.trim());
  const subtype = `application/com.github.proto-openapi.spec.${version}`;
  const first = clauses.find((type) => type === 'application/json' || type?.startsWith(subtype) === true);
  return first === undefined || first === 'application/json'
    ? { form: 'json', contentType: 'application/json' }
    : { form: 'protobuf', contentType: `${subtype}.v1.0+protobuf` };
}

const quoted = (etag: string): string => `"${etag}"`;

const toHead = (etag: string, contentType: string): Record<string, string> => ({
  'content-type': contentType,
  etag: quoted(etag),
  vary: 'Accept',
});

const isKnown = (request: ApiRequest, etag: string): boolean =>
  request.headers['if-none-match'] === quoted(etag);

const notModified = (headers: Record<string, string>): Response =>
  new Response(null, { status: 304, headers });

/** How long clients may cache the documents. A client that meets an unknown key fetches them again (RFC 7517, section 4.5). */
const MAX_AGE_SECONDS = 3600;

/**
 * The documents by which holders of a service account token verify it, with the current keys. Undefined: the issuer publishes
 * none.
 */
export function createIssuerPages(
  documents: (() => { readonly configuration: JsonObject; readonly keySet: JsonObject }) | undefined,
): Hono {
  const pages = new Hono();
  const add = (path: string, document: () => JsonObject, contentType: string): void => {
    pages.get(path, () => toResponse(document(), contentType));
    pages.all(path, () => {
      throw methodNotAllowed();
    });
  };
  if (documents === undefined) return pages;
  add('/.well-known/openid-configuration', () => documents().configuration, 'application/json');
  add('/openid/v1/jwks', () => documents().keySet, 'application/jwk-set+json');
  return pages;
}

const toResponse = (document: JsonObject, contentType: string): Response =>
  Response.json(document, {
    headers: { 'content-type': contentType, 'cache-control': `public, max-age=${MAX_AGE_SECONDS}` },
  });
