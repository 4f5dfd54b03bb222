import type { Condition } from '../../api/types/meta/v1.ts';
import type {
  GroupVersionResource,
  MigrationCondition,
  StorageVersionMigration,
  StorageVersionMigrationSpec,
} from '../../api/types/storagemigration/v1alpha1.ts';
import type * as v1beta1 from '../../api/types/storagemigration/v1beta1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import type { Conversion } from '../../registry/resource-definition.ts';
import { column, define } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustBeConditions } from '../rules/condition-rules.ts';
import { mustNotChange } from '../rules/immutable.ts';
import { mustBeNameInOneError } from '../rules/name-rules.ts';

/** v1beta1 migrates a resource in all of its versions, and has conditions like other APIs. */
const toV1beta1: Conversion = {
  toStorage: ({ status, ...migration }: v1beta1.StorageVersionMigration): StorageVersionMigration => ({
    ...migration,
    ...(status === undefined ? {} : { status: withConditions(status, toMigrationCondition) }),
  }),
  fromStorage: ({
    spec,
    status,
    ...migration
  }: StorageVersionMigration): v1beta1.StorageVersionMigration => ({
    ...migration,
    ...(spec === undefined ? {} : { spec: withoutVersion(spec) }),
    ...(status === undefined ? {} : { status: withConditions(status, fromMigrationCondition) }),
  }),
};

function withoutVersion({ resource }: StorageVersionMigrationSpec): v1beta1.StorageVersionMigrationSpec {
  if (resource === undefined) return {};
  const { version: _, ...rest } = resource;
  return { resource: rest };
}

const withConditions = <A, B, S extends { conditions?: A[] }>(
  { conditions, ...status }: S,
  convert: (condition: A) => B,
) => ({ ...status, ...(conditions === undefined ? {} : { conditions: conditions.map(convert) }) });

const toMigrationCondition = ({
  lastTransitionTime,
  observedGeneration: _,
  ...condition
}: Condition): MigrationCondition => ({
  ...condition,
  ...(lastTransitionTime === undefined ? {} : { lastUpdateTime: lastTransitionTime }),
});

const fromMigrationCondition = ({ lastUpdateTime, ...condition }: MigrationCondition): Condition => ({
  ...condition,
  ...(lastUpdateTime === undefined ? {} : { lastTransitionTime: lastUpdateTime }),
});

export const storageversionmigrations = define<StorageVersionMigration>({
  group: 'storagemigration.k8s.io',
  resource: 'storageversionmigrations',
  kind: 'StorageVersionMigration',
  namespaced: false,
  versions: [
    {
      version: 'v1beta1',
      type: 'storagemigration/v1beta1.StorageVersionMigration',
      enabledByDefault: false,
      gate: 'StorageVersionMigrator',
      conversion: toV1beta1,
      since: 35,
    },
    {
      version: 'v1alpha1',
      type: 'storagemigration/v1alpha1.StorageVersionMigration',
      enabledByDefault: false,
      gate: 'StorageVersionMigrator',
      until: 35,
    },
  ],
  storedVersion: 'v1alpha1',
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checkedUpdate(validateStatus),
  table: {
    columns: [column('Name'), column('Resource')],
    cells: (migration) => {
      const { resource = '', version = '', group = '' } = resourceOf(migration);
      return [
        migration.metadata.name ?? '',
        [resource, ...(version === '' ? [] : [version]), group].join('.'),
      ];
    },
  },
  strategy: {
    allowUnconditionalUpdate: false,
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
  },
});

const resourceOf = ({ spec }: StorageVersionMigration): GroupVersionResource => spec?.resource ?? {};

function validate(root: FieldPath, migration: StorageVersionMigration): void {
  const at = root.field('spec').field('resource');
  const { group = '', resource = '', version = '' } = resourceOf(migration);
  // 1.35 and later know no version here.
  if (root.minor >= 35) {
    if (resource === '') at.field('resource').required('resource is required to be set');
    else mustBeNameInOneError(at.field('resource'), resource, 'dns-1035-label');
    if (group !== '') mustBeNameInOneError(at.field('group'), group, 'dns-subdomain');
    return;
  }
  if (resource === '') at.field('resource').required('resource is required');
  if (version === '') at.field('version').required('version is required');
}

/** Before 1.35, Kubernetes reports these fields without their paths. */
function validateUpdate(
  at: FieldPath,
  migration: StorageVersionMigration,
  old: StorageVersionMigration,
): void {
  if (at.minor >= 35) {
    const { version: _, ...resource } = resourceOf(migration);
    const { version: __, ...before } = resourceOf(old);
    mustNotChange(at.field('spec'), { resource }, { resource: before });
    return;
  }
  for (const field of ['group', 'version', 'resource'] as const)
    mustNotChange(at.field(field), resourceOf(migration)[field] ?? '', resourceOf(old)[field] ?? '');
}

function validateStatus(
  root: FieldPath,
  migration: StorageVersionMigration,
  old: StorageVersionMigration,
): void {
  const at = root.field('status');
  const { resourceVersion = '', conditions = [] } = migration.status ?? {};
  // Conditions of this alpha group name their time otherwise.
  const usual = conditions.map(({ lastUpdateTime = null, ...condition }) => ({
    ...condition,
    lastTransitionTime: lastUpdateTime,
  }));
  validateVersion(at.field('resourceVersion'), resourceVersion, old.status?.resourceVersion ?? '');
  mustBeConditions(at.field('conditions'), usual);
  validateProgress(at.field('conditions'), migration, old);
}

function validateVersion(at: FieldPath, version: string, old: string): void {
  if (at.minor >= 35) {
    if (version !== '' && !/^[1-9]\d*$/.test(version))
      at.invalid(version, `resource version is not well formed: ${version}`);
    if (old !== '') mustNotChange(at, version, old);
    return;
  }
  if (version !== '' && !/^[+-]?\d+$/.test(version)) {
    const quoted = JSON.stringify(version);
    const why = `strconv.ParseInt: parsing ${quoted}: invalid syntax`;
    at.invalid(version, `failed to parse resource version ${quoted}: ${why}`);
  } else if (version.startsWith('-') && Number(version) < 0) {
    at.invalid(Number(version), 'must be greater than or equal to 0');
  }
  if (old !== '' && old !== version) at.invalid(version, 'resourceVersion cannot be updated');
}

/** A migration runs, then succeeds or fails, and stays so. */
function validateProgress(
  at: FieldPath,
  migration: StorageVersionMigration,
  old: StorageVersionMigration,
): void {
  const hasSucceeded = hasCondition(migration, 'Succeeded');
  const hasFailed = hasCondition(migration, 'Failed');
  const isRunning = hasCondition(migration, 'Running');
  const mustNotBe = (isMistake: boolean, why: string): void => {
    if (isMistake) at.invalid(migration.status?.conditions, why);
  };
  mustNotBe(hasSucceeded && hasFailed, 'Both success and failed conditions cannot be true at the same time');
  // Since 1.36, a migration that has ended may go on saying that it runs.
  const isJudged = isRunning && at.minor < 36;
  mustNotBe(hasSucceeded && isJudged, 'Running condition cannot be true when success condition is true');
  mustNotBe(hasFailed && isJudged, 'Running condition cannot be true when failed condition is true');
  mustNotBe(
    hasCondition(old, 'Succeeded') && !hasSucceeded,
    'Success condition cannot be set to false once it is true',
  );
  mustNotBe(
    hasCondition(old, 'Failed') && !hasFailed,
    'Failed condition cannot be set to false once it is true',
  );
}

const hasCondition = ({ status }: StorageVersionMigration, type: string): boolean =>
  status?.conditions?.find((condition) => condition.type === type)?.status === 'True';
