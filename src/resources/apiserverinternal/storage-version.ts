import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '../../api/types/apiserverinternal/v1alpha1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkName, checkQualifiedName } from '../../object/text-formats.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeName, UniqueNames } from '../rules/name-rules.ts';

export const storageversions = define<StorageVersion>({
  group: 'internal.apiserver.k8s.io',
  resource: 'storageversions',
  kind: 'StorageVersion',
  namespaced: false,
  versions: [
    { version: 'v1alpha1', type: 'apiserverinternal/v1alpha1.StorageVersion', enabledByDefault: false },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checked(validateStatus),
  table: {
    columns: [nameColumn(), column('CommonEncodingVersion'), column('StorageVersions'), column('Age')],
    cells: (storage, now) => [
      storage.metadata.name ?? '',
      storage.status?.commonEncodingVersion ?? UNSET,
      serversText(storage.status?.storageVersions ?? []),
      age(storage, now),
    ],
  },
  strategy: {
    nameRule: 'path-segment',
    allowUnconditionalUpdate: false,
    validate: checked(validate),
  },
});

const UNSET = '<unset>';
const MAX_SHOWN = 3;

function serversText(servers: readonly ServerStorageVersion[]): string {
  const shown = servers
    .slice(0, MAX_SHOWN)
    .map(({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`)
    .join(',');
  return servers.length > MAX_SHOWN ? `${shown} + ${servers.length - MAX_SHOWN} more...` : shown || UNSET;
}

/** Named `<group>.<resource>`. */
function validate(root: FieldPath, { metadata: { name = '' } }: StorageVersion): void {
  const at = root.field('metadata').field('name');
  const dot = name.lastIndexOf('.');
  if (dot < 0) {
    at.invalid(name, 'name must be in the form of <group>.<resource>');
    return;
  }
  for (const why of checkName(name.slice(0, dot), 'dns-subdomain'))
    at.invalid(name, `the group segment ${why}`);
  for (const why of checkName(name.slice(dot + 1), 'dns-1035-label'))
    at.invalid(name, `the resource segment ${why}`);
}

function validateStatus(root: FieldPath, { status = {} }: StorageVersion): void {
  const at = root.field('status');
  const servers = at.field('storageVersions');
  const ids = new UniqueNames();
  for (const [path, { apiServerID = '' }] of servers.each(status.storageVersions))
    ids.add(path.field('apiServerID'), apiServerID);
  for (const [path, server] of servers.each(status.storageVersions)) validateServer(path, server);
  validateCommonVersion(at.field('commonEncodingVersion'), status);
  // Kubernetes leaves `conditions` out of these paths.
  validateConditions(at, status.conditions);
}

function validateServer(at: FieldPath, server: ServerStorageVersion): void {
  const { apiServerID = '', encodingVersion = '', decodableVersions = [], servedVersions } = server;
  const decodable = at.field('decodableVersions');
  mustBeName(at.field('apiServerID'), apiServerID, 'dns-subdomain');
  mustBeApiVersion(at.field('encodingVersion'), encodingVersion);
  for (const [path, version] of decodable.each(decodableVersions)) mustBeApiVersion(path, version);
  const known = new Set(decodableVersions);
  if (!known.has(encodingVersion))
    decodable.invalid(decodableVersions, `decodableVersions must include encodingVersion ${encodingVersion}`);
  const list = `decodableVersions : [${decodableVersions.join(' ')}]`;
  for (const [path, version] of at.field('servedVersions').each(servedVersions)) {
    mustBeApiVersion(path, version);
    if (!known.has(version))
      path.invalid(version, `individual served version : ${version} must be included in ${list}`);
  }
}

const DISAGREEMENT =
  'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet';

/** The version that all servers write, if there is one. */
function validateCommonVersion(at: FieldPath, status: StorageVersionStatus): void {
  const { storageVersions = [], commonEncodingVersion: given } = status;
  const versions = new Set(storageVersions.map(({ encodingVersion = '' }) => encodingVersion));
  const [actual] = versions.size === 1 ? versions : [];
  if (actual === given) return;
  if (actual === undefined) at.invalid(given, DISAGREEMENT);
  else if (given === undefined) at.invalid(null, `the common encoding version is ${actual}`);
  else at.invalid(given, `the actual common encoding version is ${actual}`);
}

function validateConditions(at: FieldPath, conditions: readonly StorageVersionCondition[] | undefined): void {
  const places = new Map<string, number>();
  for (const [path, condition, place] of at.each(conditions)) {
    const { type = '', status = '', reason = '', message = '' } = condition;
    const before = places.get(type);
    if (before !== undefined) {
      const where = `it also appears in conditions[${before}]`;
      path.field('type').invalid(type, `the type of the condition is not unique, ${where}`);
    }
    path.field('type').invalidFor(type, checkQualifiedName(type));
    path.field('status').invalidFor(status, checkQualifiedName(status));
    if (reason === '') path.field('reason').required('reason cannot be empty');
    if (message === '') path.field('message').required('message cannot be empty');
    places.set(type, place);
  }
}

const VERSION_TEXT =
  "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end " +
  "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS " +
  "subdomain prefix and '/' (e.g. 'example.com/MyVersion')";

/** `apps/v1`, `v1`; everything that is wrong is one error. */
function mustBeApiVersion(at: FieldPath, apiVersion: string): void {
  const reasons = checkApiVersion(apiVersion);
  if (reasons.length > 0) at.invalid(apiVersion, reasons.join(','));
}

function checkApiVersion(apiVersion: string): string[] {
  const pieces = apiVersion.split('/');
  if (pieces.length > 2) return [VERSION_TEXT];
  const version = pieces.at(-1) ?? '';
  const group = pieces.length === 2 ? pieces[0] : undefined;
  const check = (value: string, rule: 'dns-subdomain' | 'dns-1035-label'): readonly string[] =>
    value === '' ? ['must be non-empty'] : checkName(value, rule);
  return [
    ...(group === undefined ? [] : check(group, 'dns-subdomain').map((why) => `group part: ${why}`)),
    ...check(version, 'dns-1035-label').map((why) => `version part: ${why}`),
  ];
}
