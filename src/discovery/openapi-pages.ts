import { canonicalGroup } from '../api/dialect.ts';
import type { JsonObject } from '../api/object-meta.ts';
import { BUILT_IN_TYPES } from './openapi-media.ts';
import { stemOf, tagOf } from './openapi-names.ts';
import type { PathWriter } from './openapi-operations.ts';
import { parameter } from './openapi-parameters.ts';
import type { ForeignType, OpenApiVersion, SchemaWriter } from './openapi-schema.ts';

/**
 * Pages beside the resources, which Kubernetes publishes too: those of discovery, the version, and those of the issuer and of
 * log files where the server has them. Generated clients have functions by the names of these operations.
 */

/** What the server has. */
export interface ServedPages {
  /** The fields of the answer of /version. */
  readonly versionFields: readonly string[];
  readonly issuer: boolean;
  readonly logs: boolean;
}

export interface Page {
  readonly path: string;
  readonly id: string;
  readonly text: string;
  readonly tag: string;
  /** Undefined: a file of any kind. */
  readonly answer: string | undefined;
  readonly mediaTypes: readonly string[];
}

const VERSION = 'version.Info';
const TEXT = 'text';
const JSON_ONLY = ['application/json'];
const FILE = { text: '', tag: 'logs', answer: undefined, mediaTypes: [] };

const RESOURCES = {
  text: 'get available resources',
  answer: 'meta/v1.APIResourceList',
  mediaTypes: BUILT_IN_TYPES,
};
const GROUP = { text: 'get information of a group', answer: 'meta/v1.APIGroup', mediaTypes: BUILT_IN_TYPES };
const VERSIONS = { text: 'get available API versions', mediaTypes: BUILT_IN_TYPES };

/** The page of a group version, which is in the document of its resources. */
export const resourcesPage = ({ root, id, tag }: Pick<PathWriter, 'root' | 'id' | 'tag'>): Page => ({
  path: `${root}/`,
  id: `get${id}APIResources`,
  ...{ tag, ...RESOURCES },
});

/** The pages that have documents of their own in version 3, by the path of the document. */
export function pagesOf(
  groups: readonly string[],
  { issuer, logs }: ServedPages,
): ReadonlyMap<string, readonly Page[]> {
  const pages = new Map<string, readonly Page[]>();
  if (groups.includes(''))
    pages.set('api', [
      { path: '/api/', id: 'getCoreAPIVersions', tag: 'core', answer: 'meta/v1.APIVersions', ...VERSIONS },
    ]);
  pages.set('apis', [
    { path: '/apis/', id: 'getAPIVersions', tag: 'apis', answer: 'meta/v1.APIGroupList', ...VERSIONS },
  ]);
  for (const group of groups) {
    if (group === '') continue;
    const id = `get${stemOf(group)}APIGroup`;
    pages.set(`apis/${group}`, [{ path: `/apis/${group}/`, id, tag: tagOf(group), ...GROUP }]);
  }
  pages.set('version', [
    {
      path: '/version/',
      id: 'getCodeVersion',
      text: 'get the version information for this server',
      tag: 'version',
      answer: VERSION,
      mediaTypes: JSON_ONLY,
    },
  ]);
  if (issuer) for (const [path, page] of ISSUER) pages.set(path, [page]);
  if (logs)
    pages.set('logs', [
      { path: '/logs/', id: 'logFileListHandler', ...FILE },
      { path: '/logs/{logpath}', id: 'logFileHandler', ...FILE },
    ]);
  return pages;
}

const ISSUER: readonly (readonly [string, Page])[] = [
  [
    '.well-known/openid-configuration',
    {
      path: '/.well-known/openid-configuration/',
      id: 'getServiceAccountIssuerOpenIDConfiguration',
      text: "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
      tag: 'WellKnown',
      answer: TEXT,
      mediaTypes: JSON_ONLY,
    },
  ],
  [
    'openid/v1/jwks',
    {
      path: '/openid/v1/jwks/',
      id: 'getServiceAccountIssuerOpenIDKeyset',
      text: 'get service account issuer OpenID JSON Web Key Set (contains public token verification keys)',
      tag: 'openid',
      answer: TEXT,
      mediaTypes: ['application/jwk-set+json'],
    },
  ],
];

/** The groups whose types this server itself has. */
export const groupsOf = (
  keys: Iterable<{ readonly path: string; readonly group: string }>,
  isBuiltIn: (group: string) => boolean,
): string[] => [
  ...new Set(
    [...keys].flatMap(({ path }) => {
      const name = path.startsWith('apis/') ? (path.split('/')[1] ?? '') : '';
      return name === '' || isBuiltIn(canonicalGroup(name).group) ? [name] : [];
    }),
  ),
];

export function writePages(
  version: OpenApiVersion,
  schemas: SchemaWriter,
  pages: Iterable<Page>,
  fields: readonly string[],
): Record<string, JsonObject> {
  schemas.introduce(VERSION, versionInfo(fields, version));
  return Object.fromEntries([...pages].map((page) => [page.path, toItem(version, schemas, page)]));
}

function toItem(version: OpenApiVersion, schemas: SchemaWriter, page: Page): JsonObject {
  const { id, text, tag, answer, mediaTypes, path } = page;
  const schema = (): JsonObject =>
    answer === TEXT || answer === undefined ? { type: 'string' } : schemas.refer(answer);
  const content = (): JsonObject =>
    Object.fromEntries(mediaTypes.map((type) => [type, { schema: schema() }]));
  const ok = (): JsonObject => (version === 'v2' ? { schema: schema() } : { content: content() });
  const media =
    version === 'v2'
      ? {
          ...(mediaTypes === BUILT_IN_TYPES || path === '/version/' ? { consumes: [...mediaTypes] } : {}),
          ...(mediaTypes.length === 0 ? {} : { produces: [...mediaTypes] }),
          schemes: ['https'],
        }
      : {};
  return {
    get: {
      operationId: id,
      ...(text === '' ? {} : { description: text }),
      tags: [tag],
      ...media,
      responses: {
        ...(answer === undefined ? {} : { 200: { description: 'OK', ...ok() } }),
        401: { description: 'Unauthorized' },
      },
    },
    ...(path.endsWith('{logpath}')
      ? { parameters: [parameter(version, 'logpath', 'string', { where: 'path' }).json] }
      : {}),
  };
}

const OPTIONAL = /^(emulation|minCompatibility)/;

/** The answer of /version, whose fields since Kubernetes 1.33 include the emulated version. */
const versionInfo = (fields: readonly string[], version: OpenApiVersion): ForeignType => ({
  definition: 'io.k8s.apimachinery.pkg.version.Info',
  make: () => ({
    type: 'object',
    description: 'The version of the server, and what it was built with.',
    required: fields.filter((name) => !OPTIONAL.test(name)),
    properties: Object.fromEntries(
      fields.map((name) => [
        name,
        {
          type: 'string',
          description: TEXTS[name] ?? '',
          ...(version === 'v2' || OPTIONAL.test(name) ? {} : { default: '' }),
        },
      ]),
    ),
  }),
});

const TEXTS: Readonly<Record<string, string>> = {
  major: 'The first number of the version.',
  minor: 'The second number of the version.',
  emulationMajor: 'The first number of the version that the server behaves like.',
  emulationMinor: 'The second number of the version that the server behaves like.',
  minCompatibilityMajor: 'The first number of the oldest version with which the server works together.',
  minCompatibilityMinor: 'The second number of the oldest version with which the server works together.',
  gitVersion: 'The whole version.',
  gitCommit: 'The commit that the server was built from; empty if it is unknown.',
  gitTreeState: 'Whether the commit is all there is: clean or dirty.',
  buildDate: 'When the server was built, in RFC 3339.',
  goVersion: 'The version of the runtime.',
  compiler: 'What the server was compiled with.',
  platform: 'Operating system and architecture.',
};
