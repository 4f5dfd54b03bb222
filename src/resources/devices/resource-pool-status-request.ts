import type {
  PoolStatus,
  ResourcePoolStatusRequest,
  ResourcePoolStatusRequestStatus,
} from '../../api/types/resource/v1alpha3.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustBeConditions } from '../rules/condition-rules.ts';
import { mustBeName } from '../rules/name-rules.ts';
import { mustBeDriverName, mustBePoolName } from './device-names.ts';
import { hasAtMost } from './list-limits.ts';

/** Asks a controller once how many devices there are. It answers in the status, which then stays as it is. */
export const resourcepoolstatusrequests = define<ResourcePoolStatusRequest>({
  group: 'resource.k8s.io',
  resource: 'resourcepoolstatusrequests',
  kind: 'ResourcePoolStatusRequest',
  namespaced: false,
  versions: [
    {
      version: 'v1alpha3',
      type: 'resource/v1alpha3.ResourcePoolStatusRequest',
      enabledByDefault: false,
      since: 36,
    },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checkedUpdate(validateStatus),
  table: {
    columns: [nameColumn(), column('Driver'), column('Pools', 0, 'integer'), column('Age')],
    cells: (request, now) => [
      request.metadata.name ?? '',
      request.spec?.driver ?? '',
      request.status?.poolCount ?? '',
      age(request, now),
    ],
  },
  strategy: {
    returnsDeletedObject: true,
    // A status, even an empty one, would mean that the request has been answered.
    prepareForCreate: (request) => {
      delete request.status;
    },
    validate: checked(validate),
  },
});

const MAX_LIMIT = 1000;

function validate(root: FieldPath, { spec = {} }: ResourcePoolStatusRequest): void {
  const at = root.field('spec');
  const { driver = '', poolName, limit } = spec;
  if (driver === '') at.field('driver').required();
  else mustBeDriverName(at.field('driver'), driver);
  if (poolName !== undefined) mustBePoolName(at.field('poolName'), poolName);
  mustBeAtLeast(at.field('limit'), limit, 1);
  if (limit !== undefined && limit > MAX_LIMIT)
    at.field('limit').invalid(limit, `must be less than or equal to ${MAX_LIMIT}`);
}

function mustBeAtLeast(at: FieldPath, value: number | bigint | undefined, least: number): void {
  if (value !== undefined && value < least) at.invalid(value, `must be greater than or equal to ${least}`);
}

const MAX_POOLS = 1000;
const MAX_CONDITIONS = 10;

function validateStatus(
  root: FieldPath,
  { status }: ResourcePoolStatusRequest,
  old: ResourcePoolStatusRequest,
): void {
  const at = root.field('status');
  if (old.status !== undefined) {
    if (!equal(status, old.status)) at.invalid(status ?? null, 'field is immutable');
  } else if (status !== undefined) validateAnswer(at, status);
}

function validateAnswer(
  at: FieldPath,
  { poolCount, pools = [], conditions }: ResourcePoolStatusRequestStatus,
) {
  if (poolCount === undefined) at.field('poolCount').required();
  mustBeAtLeast(at.field('poolCount'), poolCount, 0);
  if (hasAtMost(at.field('pools'), MAX_POOLS, pools))
    for (const [path, pool] of at.field('pools').each(pools)) validatePool(path, pool);
  hasAtMost(at.field('conditions'), MAX_CONDITIONS, conditions ?? []);
  mustBeConditions(at.field('conditions'), conditions);
}

const COUNTS = ['totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'] as const;
const MAX_ERROR_BYTES = 256;

function validatePool(at: FieldPath, pool: PoolStatus): void {
  const { driver = '', poolName = '', nodeName, validationError = '' } = pool;
  if (driver === '') at.field('driver').required();
  else mustBeDriverName(at.field('driver'), driver);
  if (poolName === '') at.field('poolName').required();
  else mustBePoolName(at.field('poolName'), poolName);
  mustBeAtLeast(at.field('generation'), pool.generation, 0);
  mustBeAtLeast(at.field('resourceSliceCount'), pool.resourceSliceCount, 1);
  for (const count of COUNTS) mustBeAtLeast(at.field(count), pool[count], 0);
  if (nodeName !== undefined) mustBeName(at.field('nodeName'), nodeName, 'dns-subdomain');
  if (Buffer.byteLength(validationError) > MAX_ERROR_BYTES)
    at.field('validationError').tooLong(MAX_ERROR_BYTES);
}
