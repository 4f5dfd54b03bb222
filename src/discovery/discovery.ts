import { createHash } from 'node:crypto';
import { canonicalGroup, type Dialect, dialectGroup } from '../api/dialect.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { JsonObject } from '../api/object-meta.ts';
import { methodNotAllowed, pathNotFound } from '../api/status.ts';
import { encodeValue } from '../codec/encode.ts';
import { negotiate, wantsPretty } from '../codec/negotiate.ts';
import type { Registry } from '../registry/registry.ts';
import type { AuthorizedRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { type Document, type DocumentForm, type DocumentKey, OpenApi } from './openapi.ts';
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

export interface DiscoveryOptions {
  readonly registry: Registry;
  readonly types: TypeLibrary;
  /** Dialects under which groups are listed, the first one first. */
  readonly domains: readonly Dialect[];
  /** host:port under which clients reach the server. */
  readonly serverAddress: string;
  /** What /version answers. */
  readonly version: VersionInfo;
}

export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly platform: string;
}

export type DocumentHandler = (request: AuthorizedRequest) => ApiResponse | undefined;

/** Answers what is no resource: discovery, OpenAPI, /version, the list of paths. Undefined: not one of these. */
export function createDiscovery(options: DiscoveryOptions): DocumentHandler {
  const discovery = new Discovery(options);
  return (request) => discovery.respond(request);
}

class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #openApi: OpenApi;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#openApi = new OpenApi({ ...options, gitVersion: options.version.gitVersion });
  }

  respond(request: AuthorizedRequest): ApiResponse | undefined {
    const parts = request.path.split('/').filter((part) => part !== '');
    const document = this.#find(request, parts);
    if (document !== undefined && request.method !== 'GET' && request.method !== 'HEAD')
      throw methodNotAllowed();
    return document;
  }

  #find(request: AuthorizedRequest, parts: readonly string[]): ApiResponse | undefined {
    const [root, ...rest] = parts;
    switch (root) {
      case undefined:
        return this.#plain(request, { paths: this.#paths() });
      case 'version':
        return rest.length === 0 ? this.#plain(request, this.#version()) : undefined;
      case 'api':
      case 'apis':
        return this.#findApi(request, root, rest);
      case 'openapi':
        return this.#findOpenApi(request, rest);
      default:
        return undefined;
    }
  }

  #version(): JsonObject {
    const { version } = this.#options;
    return {
      ...version,
      gitCommit: '',
      gitTreeState: 'clean',
      buildDate: '1970-01-01T00:00:00Z',
      goVersion: `node${process.versions.node}`,
      compiler: 'v8',
    };
  }

  #paths(): string[] {
    const keys = this.#documentKeys().map(({ path }) => `/${path}`);
    const groups = this.#groups().map(({ name }) => `/apis/${name}`);
    return [
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
    ].sort();
  }

  #groups(): ListedGroup[] {
    return listGroups(this.#options.registry, this.#options.domains);
  }

  #findApi(
    request: AuthorizedRequest,
    root: 'api' | 'apis',
    rest: readonly string[],
  ): ApiResponse | undefined {
    const { registry, serverAddress } = this.#options;
    const [first, second] = rest;
    if (root === 'api') {
      const core = { group: '', dialect: 'k8s.io', name: '', versions: ['v1'], primary: true } as const;
      if (first === undefined) return this.#aggregatedOr(request, [core], () => toApiVersions(serverAddress));
      if (first !== 'v1') throw pathNotFound();
      return this.#plain(request, toResourceList('v1', registry.resources('', 'v1'), core));
    }
    if (first === undefined)
      return this.#aggregatedOr(request, this.#groups(), () => toGroupList(this.#groups()));
    const { group, dialect = 'k8s.io' } = canonicalGroup(first);
    const served = registry.groups().find((one) => one.group === group);
    if (served === undefined || group === '') throw pathNotFound();
    // A name that --api-domains leaves out of the list is served all the same.
    const listed = this.#groups().find(({ name }) => name === first);
    const found = listed ?? { ...served, dialect, name: first, primary: false };
    if (second === undefined) return this.#plain(request, toGroup(found));
    if (!served.versions.includes(second)) throw pathNotFound();
    return this.#plain(
      request,
      toResourceList(groupVersionOf(first, second), registry.resources(group, second), found),
    );
  }

  /** Clients ask for the aggregated form first and take the plain one where it is all there is. */
  #aggregatedOr(
    request: AuthorizedRequest,
    groups: readonly ListedGroup[],
    other: () => JsonObject,
  ): ApiResponse {
    const match =
      /application\/json;(?=[^,]*as=APIGroupDiscoveryList)(?=[^,]*g=apidiscovery\.(k8s\.io|cluster\.io))(?=[^,]*v=(v2beta1|v2)\b)/.exec(
        request.headers.accept ?? '',
      );
    if (match === null) return this.#plain(request, other());
    const [, domain, version = 'v2'] = match;
    const apiVersion = `${dialectGroup('apidiscovery.k8s.io', domain as Dialect)}/${version}`;
    const bytes = Buffer.from(
      JSON.stringify(toAggregated({ registry: this.#options.registry, groups, apiVersion })),
    );
    const etag = createHash('sha512').update(bytes).digest('hex').toUpperCase();
    const contentType = `application/json;g=${dialectGroup('apidiscovery.k8s.io', domain as Dialect)};v=${version};as=APIGroupDiscoveryList`;
    return withEtag(request, { bytes, etag }, contentType);
  }

  /** What has a kind of meta/v1 has a protobuf form too. */
  #plain(request: AuthorizedRequest, document: JsonObject): ApiResponse {
    const type = `meta/v1.${String(document.kind)}`;
    const schema = this.#options.types.has(type) ? this.#options.types.message(type) : undefined;
    const pretty = wantsPretty(request.query, request.userAgent);
    const representation = negotiate(request.headers.accept, { pretty, protobuf: schema !== undefined });
    return {
      kind: 'bytes',
      code: 200,
      contentType: representation.contentType,
      chunks: [encodeValue(document, representation, schema)],
      compressible: true,
    };
  }

  #documentKeys(): DocumentKey[] {
    const groups = this.#groups().flatMap(({ group, dialect, name, versions }) =>
      versions.map((version) => ({ path: `apis/${name}/${version}`, group, version, dialect })),
    );
    return [{ path: 'api/v1', group: '', version: 'v1', dialect: 'k8s.io' }, ...groups];
  }

  #findOpenApi(request: AuthorizedRequest, rest: readonly string[]): ApiResponse | undefined {
    const [version, ...path] = rest;
    if (version === 'v2' && path.length === 0) {
      const { form, contentType } = chooseForm(request, 'v2');
      return withEtag(request, this.#openApi.whole(this.#documentKeys(), form), contentType);
    }
    if (version !== 'v3') return undefined;
    if (path.length === 0) return this.#plain(request, { paths: this.#index() });
    const key = this.#documentKeys().find((one) => one.path === path.join('/'));
    if (key === undefined) throw pathNotFound();
    return this.#openApiDocument(request, key);
  }

  /** The URL names the content, so clients may keep what they got for as long as the name stays. */
  #index(): JsonObject {
    const entries = this.#documentKeys().map((key) => {
      const { etag } = this.#openApi.groupVersion(key);
      return [key.path, { serverRelativeURL: `/openapi/v3/${key.path}?hash=${etag}` }] as const;
    });
    return Object.fromEntries(entries);
  }

  #openApiDocument(request: AuthorizedRequest, key: DocumentKey): ApiResponse {
    const document = this.#openApi.groupVersion(key);
    const asked = request.query.get('hash');
    if (asked !== null && asked !== document.etag) {
      const location = `/openapi/v3/${key.path}?hash=${document.etag}`;
      return {
        kind: 'bytes',
        code: 301,
        contentType: 'text/plain',
        headers: { location },
        chunks: [],
        compressible: false,
      };
    }
    const { form, contentType } = chooseForm(request, 'v3');
    const response = withEtag(request, this.#openApi.groupVersion(key, form), contentType);
    if (asked === null || response.kind !== 'bytes') return response;
    return { ...response, headers: { ...response.headers, 'cache-control': 'public, immutable' } };
  }
}

/** Clients of the Go library ask for protobuf, and take nothing else from /openapi/v2. */
function chooseForm(
  { headers }: AuthorizedRequest,
  version: OpenApiVersion,
): { form: DocumentForm; contentType: string } {
  const clauses = (headers.accept ?? '').split(',').map((clause) => clause.split(';')[0]?.trim());
  const subtype = `application/com.github.proto-openapi.spec.${version}`;
  const first = clauses.find((type) => type === 'application/json' || type?.startsWith(subtype) === true);
  return first === undefined || first === 'application/json'
    ? { form: 'json', contentType: 'application/json' }
    : { form: 'protobuf', contentType: `${subtype}.v1.0+protobuf` };
}

function withEtag(request: AuthorizedRequest, { bytes, etag }: Document, contentType: string): ApiResponse {
  const quoted = `"${etag}"`;
  const headers = { etag: quoted, vary: 'Accept' };
  if (request.headers['if-none-match'] === quoted) {
    return { kind: 'bytes', code: 304, contentType, headers, chunks: [], compressible: false };
  }
  return { kind: 'bytes', code: 200, contentType, headers, chunks: [bytes], compressible: true };
}
