import { defaultGates } from '../../api/feature-gates.ts';
import type { CSIDriver, TokenRequest } from '../../api/types/storage/v1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { goList } from '../../object/go-value.ts';
import { nextGeneration } from '../../object/metadata.ts';
import { checkName } from '../../object/text-formats.ts';
import type { Cell } from '../../registry/resource-definition.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustNotChange } from '../rules/immutable.ts';
import { mustBeOneOf } from '../rules/name-rules.ts';

export const csidrivers = define<CSIDriver>({
  group: 'storage.k8s.io',
  resource: 'csidrivers',
  kind: 'CSIDriver',
  namespaced: false,
  versions: [{ version: 'v1', type: 'storage/v1.CSIDriver' }],
  table: {
    columns: [
      nameColumn(),
      column('AttachRequired', 0, 'boolean'),
      column('PodInfoOnMount', 0, 'boolean'),
      column('StorageCapacity', 0, 'boolean'),
      column('TokenRequests'),
      column('RequiresRepublish', 0, 'boolean'),
      column('Modes'),
      column('Age'),
    ],
    cells,
  },
  strategy: {
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
    // Unlike other resources a new driver has no generation; the first change of its spec gives it one.
    prepareForUpdate: (driver, old) => {
      if (!equal(driver.spec, old.spec)) driver.metadata.generation = nextGeneration(old.metadata);
    },
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings: ({ spec = {} }, old, isOn = defaultGates) =>
      isOn('CSIServiceAccountTokenSecrets') &&
      (spec.tokenRequests ?? []).length > 0 &&
      spec.serviceAccountTokenInSecrets === undefined &&
      (old === undefined || !equal(old.spec?.tokenRequests ?? [], spec.tokenRequests))
        ? [TOKENS_IN_ATTRIBUTES]
        : [],
  },
});

const TOKENS_IN_ATTRIBUTES =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

function cells(driver: CSIDriver, now: number): readonly Cell[] {
  const { metadata, spec = {} } = driver;
  const { tokenRequests = [], volumeLifecycleModes = [] } = spec;
  return [
    metadata.name ?? '',
    spec.attachRequired !== false,
    spec.podInfoOnMount === true,
    spec.storageCapacity === true,
    tokenRequests.length === 0 ? '<unset>' : tokenRequests.map(({ audience = '' }) => audience).join(','),
    spec.requiresRepublish === true,
    volumeLifecycleModes.join(',') || NONE,
    age(driver, now),
  ];
}

const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const MIN_UPDATE_SECONDS = 10;
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];

function validate(root: FieldPath, { spec = {} }: CSIDriver): void {
  const at = root.field('spec');
  mustBeOneOf(at.field('fsGroupPolicy'), spec.fsGroupPolicy, FS_GROUP_POLICIES);
  validateTokenRequests(at.field('tokenRequests'), spec.tokenRequests);
  for (const mode of spec.volumeLifecycleModes ?? [])
    mustBeOneOf(at.field('volumeLifecycleModes'), mode, LIFECYCLE_MODES);
  const {
    nodeAllocatableUpdatePeriodSeconds: period,
    serviceAccountTokenInSecrets,
    tokenRequests = [],
  } = spec;
  if (period !== undefined && period < MIN_UPDATE_SECONDS)
    at.field('nodeAllocatableUpdatePeriodSeconds').invalid(
      period,
      'must be greater than or equal to 10 seconds',
    );
  if (serviceAccountTokenInSecrets !== undefined && tokenRequests.length === 0)
    at.field('serviceAccountTokenInSecrets').invalid(
      serviceAccountTokenInSecrets,
      'may only be set when `tokenRequests` is specified',
    );
}

/** One token an audience; the empty one is that of the API server itself. */
function validateTokenRequests(at: FieldPath, requests: readonly TokenRequest[] | undefined): void {
  const audiences = new Set<string>();
  for (const [path, { audience = '', expirationSeconds }] of at.each(requests)) {
    if (audiences.has(audience)) path.field('audience').duplicate(audience);
    else mustBeLifetime(path.field('expirationSeconds'), expirationSeconds);
    audiences.add(audience);
  }
}

const MIN_EXPIRATION_SECONDS = 600;
const MAX_EXPIRATION_SECONDS = 2 ** 32;

function mustBeLifetime(at: FieldPath, seconds: number | bigint | undefined): void {
  if (seconds === undefined) return;
  if (seconds < MIN_EXPIRATION_SECONDS)
    at.invalid(seconds, 'may not specify a duration less than 10 minutes');
  else if (seconds > MAX_EXPIRATION_SECONDS)
    at.invalid(seconds, 'may not specify a duration larger than 2^32 seconds');
}

function validateUpdate(root: FieldPath, { spec = {} }: CSIDriver, { spec: old = {} }: CSIDriver): void {
  const at = root.field('spec');
  // Kubernetes calls the first field so in errors.
  mustNotChange(at.field('attachedRequired'), spec.attachRequired, old.attachRequired);
  mustNotChange(
    at.field('volumeLifecycleModes'),
    spec.volumeLifecycleModes,
    old.volumeLifecycleModes,
    (modes) => goList('storage.VolumeLifecycleMode', modes),
  );
}

const MAX_DRIVER_NAME_BYTES = 63;

/** The name of a driver is that of a host, in letters of either case. */
export function mustBeDriverName(at: FieldPath, driver: string): void {
  if (driver === '') at.required();
  if (driver.length > MAX_DRIVER_NAME_BYTES) at.tooLong(MAX_DRIVER_NAME_BYTES);
  at.invalidFor(driver, checkName(driver.toLowerCase(), 'dns-subdomain'));
}
