import { Hono } from 'hono';
import { canonicalGroup, type Dialect, dialectGroup } from '../api/dialect.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { JsonObject } from '../api/object-meta.ts';
import { methodNotAllowed, pathNotFound } from '../api/status.ts';
import { encodeValue } from '../codec/formats.ts';
import { negotiate, wantsPretty } from '../codec/negotiate.ts';
import { createPages, isUnknown, type Pages } from '../pages/pages.ts';
import type { Registry } from '../registry/registry.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { type Document, type DocumentForm, type DocumentKey, OpenApi, toDocument } from './openapi.ts';
import type { OpenApiVersion } from './openapi-schema.ts';
import {
  groupVersionOf,
  type ListedGroup,
  listGroups,
  toAggregated,
  toApiVersions,
  toGroup,
  toGroupList,
  toResourceList,
} from './resources.ts';

interface DiscoveryOptions {
  readonly registry: Registry;
  readonly types: TypeLibrary;
  /** Dialects under which groups are listed, the first one first. */
  readonly domains: readonly Dialect[];
  /** host:port under which clients reach the server. */
  readonly serverAddress: string;
  /** What /version answers. */
  readonly version: VersionInfo;
}

interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly platform: string;
}

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
    .all('/version', ({ env }) => discovery.version(env.request))
    .all('/api', ({ env }) => discovery.coreVersions(env.request))
    .all('/api/v1', ({ env }) => discovery.coreResources(env.request))
    .all('/apis', ({ env }) => discovery.groups(env.request))
    .all('/apis/:group', ({ env, req }) => discovery.group(env.request, req.param('group')))
    .all('/apis/:group/:version', ({ env, req }) =>
      discovery.resources(env.request, req.param('group'), req.param('version')),
    )
    .all('/openapi/v2', ({ env }) => discovery.openApiV2(env.request))
    .all('/openapi/v3', ({ env }) => discovery.openApiIndex(env.request))
    .all('/openapi/v3/:path{.+}', ({ env, req }) => discovery.openApiV3(env.request, req.param('path')));
}

/** The core group as it is listed. */
const CORE = { group: '', dialect: 'k8s.io', name: '', versions: ['v1'], primary: true } as const;

class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #openApi: OpenApi;
  readonly #documents = new Map<string, Document>();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    options.registry.onChange(() => this.#documents.clear());
    this.#openApi = new OpenApi({ ...options, gitVersion: options.version.gitVersion });
  }

  version(request: ApiRequest): Response {
    return this.#plain(request, {
      ...this.#options.version,
      gitCommit: '',
      gitTreeState: 'clean',
      buildDate: '1970-01-01T00:00:00Z',
      goVersion: `node${process.versions.node}`,
      compiler: 'v8',
    });
  }

  paths(request: ApiRequest): Response {
    const keys = this.#documentKeys().map(({ path }) => `/${path}`);
    const groups = this.#groups().map(({ name }) => `/apis/${name}`);
    const paths = [
      '/.well-known/openid-configuration',
      '/api',
      '/apis',
      ...keys,
      ...groups,
      '/healthz',
      '/livez',
      '/metrics',
      '/openapi/v2',
      '/openapi/v3',
      '/openid/v1/jwks',
      '/readyz',
      '/version',
    ];
    return this.#plain(request, { paths: paths.sort() });
  }

  #groups(): ListedGroup[] {
    return listGroups(this.#options.registry, this.#options.domains);
  }

  coreVersions(request: ApiRequest): Response {
    return this.#aggregatedOr(request, [CORE], () => toApiVersions(this.#options.serverAddress));
  }

  coreResources(request: ApiRequest): Response {
    const { registry } = this.#options;
    return this.#plain(request, toResourceList('v1', registry.resources('', 'v1'), CORE));
  }

  groups(request: ApiRequest): Response {
    return this.#aggregatedOr(request, this.#groups(), () => toGroupList(this.#groups()));
  }

  group(request: ApiRequest, name: string): Response {
    return this.#plain(request, toGroup(this.#findGroup(name)));
  }

  resources(request: ApiRequest, name: string, version: string): Response {
    const found = this.#findGroup(name);
    if (!found.versions.includes(version)) throw pathNotFound();
    const resources = this.#options.registry.resources(found.group, version);
    return this.#plain(request, toResourceList(groupVersionOf(name, version), resources, found));
  }

  /** A group that --api-domains leaves out of the list is served nevertheless. */
  #findGroup(name: string): ListedGroup {
    const { group, dialect = 'k8s.io' } = canonicalGroup(name);
    const served = this.#options.registry.groups().find((one) => one.group === group);
    if (served === undefined || group === '') throw pathNotFound();
    const listed = this.#groups().find((one) => one.name === name);
    return listed ?? { ...served, dialect, name, primary: false };
  }

  /** Clients ask for the aggregated form first, and accept the plain one instead. */
  #aggregatedOr(request: ApiRequest, groups: readonly ListedGroup[], other: () => JsonObject): Response {
    const match =
      /application\/json;(?=[^,]*as=APIGroupDiscoveryList)(?=[^,]*g=apidiscovery\.(k8s\.io|cluster\.io))(?=[^,]*v=(v2beta1|v2)\b)/.exec(
        request.headers.accept ?? '',
      );
    if (match === null) return this.#plain(request, other());
    const [, domain, version = 'v2'] = match;
    const group = dialectGroup('apidiscovery.k8s.io', domain === 'cluster.io' ? 'cluster.io' : 'k8s.io');
    const apiVersion = `${group}/${version}`;
    const document = this.#aggregated(apiVersion, groups);
    const contentType = `application/json;g=${group};v=${version};as=APIGroupDiscoveryList`;
    return withEtag(request, document, contentType);
  }

  /** Every kubectl requests this document when it starts, so it is made once for each state of the registry. */
  #aggregated(apiVersion: string, groups: readonly ListedGroup[]): Document {
    const name = [apiVersion, ...groups.map((group) => group.name)].join(' ');
    let document = this.#documents.get(name);
    if (document === undefined) {
      document = toDocument(
        Buffer.from(JSON.stringify(toAggregated({ registry: this.#options.registry, groups, apiVersion }))),
      );
      this.#documents.set(name, document);
    }
    return document;
  }

  /** Documents with a kind in meta/v1 have a protobuf form too. */
  #plain(request: ApiRequest, document: JsonObject): Response {
    const type = `meta/v1.${String(document.kind)}`;
    const schema = this.#options.types.has(type) ? this.#options.types.message(type) : undefined;
    const pretty = wantsPretty(request.query, request.userAgent);
    const representation = negotiate(request.headers.accept, { pretty, protobuf: schema !== undefined });
    return new Response(encodeValue(document, representation, schema), {
      headers: { 'content-type': representation.contentType },
    });
  }

  #documentKeys(): DocumentKey[] {
    const groups = this.#groups().flatMap(({ group, dialect, name, versions }) =>
      versions.map((version) => ({ path: `apis/${name}/${version}`, group, version, dialect })),
    );
    return [{ path: 'api/v1', group: '', version: 'v1', dialect: 'k8s.io' }, ...groups];
  }

  async openApiV2(request: ApiRequest): Promise<Response> {
    const { form, contentType } = chooseForm(request, 'v2');
    return withEtag(request, await this.#openApi.whole(this.#documentKeys(), form), contentType);
  }

  /** The URL names the content, so clients may keep what they got for as long as the name stays. */
  async openApiIndex(request: ApiRequest): Promise<Response> {
    const paths: JsonObject = {};
    for (const key of this.#documentKeys()) {
      const { etag } = await this.#openApi.groupVersion(key);
      paths[key.path] = { serverRelativeURL: `/openapi/v3/${key.path}?hash=${etag}` };
    }
    return this.#plain(request, { paths });
  }

  async openApiV3(request: ApiRequest, path: string): Promise<Response> {
    const key = this.#documentKeys().find((one) => one.path === path);
    if (key === undefined) throw pathNotFound();
    const document = await this.#openApi.groupVersion(key);
    const asked = request.query.get('hash');
    if (asked !== null && asked !== document.etag) {
      const location = `/openapi/v3/${key.path}?hash=${document.etag}`;
      return new Response(null, { status: 301, headers: { 'content-type': 'text/plain', location } });
    }
    const { form, contentType } = chooseForm(request, 'v3');
    const response = withEtag(request, await this.#openApi.groupVersion(key, form), contentType);
    if (asked !== null) response.headers.set('cache-control', 'public, immutable');
    return response;
  }
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

function withEtag(request: ApiRequest, { bytes, etag }: Document, contentType: string): Response {
  const quoted = `"${etag}"`;
  const headers = { 'content-type': contentType, etag: quoted, vary: 'Accept' };
  const isKnown = request.headers['if-none-match'] === quoted;
  return new Response(isKnown ? null : bytes, { status: isKnown ? 304 : 200, headers });
}

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
