import type {
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../api/types/flowcontrol/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import type { Conversion } from '../../registry/resource-definition.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustHaveDistinctTypes } from '../rules/condition-rules.ts';
import { mustBeWithin } from '../rules/numbers.ts';
import { mustBeMandatoryLevel } from './mandatory.ts';

/**
 * flowcontrol/v1beta3 cannot distinguish zero shares from an absent value, and reads both as 30. An annotation, only in this
 * version, marks an intended zero (Kubernetes: pkg/apis/flowcontrol/v1beta3/conversion.go).
 */
const KEEP_ZERO_SHARES = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

const DEFAULT_SHARES = 30;

const priorityLevelV1beta3: Conversion = {
  toStorage: (level: PriorityLevelConfiguration) => {
    const { [KEEP_ZERO_SHARES]: kept, ...annotations } = level.metadata.annotations ?? {};
    const shares = sharesOf(level);
    const meant = shares === 0 && kept === undefined ? DEFAULT_SHARES : shares;
    return withShares(withAnnotations(level, annotations), 'v1', meant);
  },
  fromStorage: (level: PriorityLevelConfiguration) => {
    const shares = sharesOf(level);
    const isZero = level.spec?.limited !== undefined && shares === 0;
    const annotations = { ...level.metadata.annotations, ...(isZero ? { [KEEP_ZERO_SHARES]: '' } : {}) };
    return withShares(withAnnotations(level, annotations), 'v1beta3', shares);
  },
};

export const prioritylevelconfigurations = define<PriorityLevelConfiguration>({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'prioritylevelconfigurations',
  kind: 'PriorityLevelConfiguration',
  namespaced: false,
  versions: [
    { version: 'v1', type: 'flowcontrol/v1.PriorityLevelConfiguration' },
    {
      version: 'v1beta3',
      type: 'flowcontrol/v1beta3.PriorityLevelConfiguration',
      conversion: priorityLevelV1beta3,
      until: 32,
    },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checked((at, { status }) =>
    mustHaveDistinctTypes(at.field('status').field('conditions'), status?.conditions),
  ),
  table: {
    columns: [
      nameColumn(),
      column('Type'),
      column('NominalConcurrencyShares'),
      column('Queues'),
      column('HandSize'),
      column('QueueLengthLimit'),
      column('Age'),
    ],
    cells: (level, now) => {
      const { type = '', limited } = level.spec ?? {};
      const { queues, handSize, queueLengthLimit } = limited?.limitResponse?.queuing ?? {};
      return [
        level.metadata.name ?? '',
        type,
        limited === undefined ? NONE : (limited.nominalConcurrencyShares ?? 0),
        queues ?? NONE,
        handSize ?? NONE,
        queueLengthLimit ?? NONE,
        age(level, now),
      ];
    },
  },
  strategy: {
    tracksGeneration: true,
    validate: checked(validate),
  },
});

function validate(root: FieldPath, level: PriorityLevelConfiguration): void {
  const { metadata, spec = {} } = level;
  const at = root.field('spec');
  if (metadata.annotations?.[KEEP_ZERO_SHARES] !== undefined)
    root.field('metadata').field('annotations').forbidden(`annotation '${KEEP_ZERO_SHARES}' is forbidden`);
  if ((metadata.name === 'exempt') !== (spec.type === 'Exempt'))
    at.field('type').invalid(
      spec.type ?? '',
      at.minor < 34
        ? "type must be 'Exempt' if and only if name is 'exempt'"
        : "must be 'Exempt' if and only if `name` is 'exempt'",
    );
  validateType(at, spec);
  mustBeMandatoryLevel(at, level);
}

function validateType(at: FieldPath, { type = '', exempt, limited }: PriorityLevelConfigurationSpec): void {
  switch (type) {
    case 'Exempt':
      if (limited !== undefined) at.field('limited').forbidden('must be nil if the type is not Limited');
      if (exempt !== undefined) validateShares(at.field('exempt'), exempt);
      return;
    case 'Limited':
      if (exempt !== undefined) at.field('exempt').forbidden('must be nil if the type is Limited');
      if (limited === undefined) at.field('limited').required('must not be empty when type is Limited');
      else validateLimited(at.field('limited'), limited);
      return;
    default:
      refuseType(at, type, ['Exempt', 'Limited']);
  }
}

/** Since 1.36 an empty type is missing; before it is one of the wrong ones. */
function refuseType(at: FieldPath, type: string, types: readonly string[]): void {
  if (type === '' && at.minor >= 36) at.field('type').required();
  else at.field('type').notSupported(type, types);
}

interface Shares {
  readonly nominalConcurrencyShares?: number;
  readonly lendablePercent?: number;
}

function validateShares(at: FieldPath, { nominalConcurrencyShares = 0, lendablePercent }: Shares): void {
  if (nominalConcurrencyShares < 0)
    at.field('nominalConcurrencyShares').invalid(nominalConcurrencyShares, 'must be a non-negative integer');
  mustBeWithin(at.field('lendablePercent'), lendablePercent, { least: 0, most: 100 });
}

function validateLimited(at: FieldPath, limited: LimitedPriorityLevelConfiguration): void {
  const { limitResponse = {}, borrowingLimitPercent = 0 } = limited;
  validateShares(at, limited);
  validateResponse(at.field('limitResponse'), limitResponse);
  if (borrowingLimitPercent < 0)
    at.field('borrowingLimitPercent').invalid(
      borrowingLimitPercent,
      'if specified, must be a non-negative integer',
    );
}

function validateResponse(at: FieldPath, { type = '', queuing }: LimitResponse): void {
  const path = at.field('queuing');
  switch (type) {
    case 'Reject':
      if (queuing !== undefined) path.forbidden('must be nil if limited.limitResponse.type is not Limited');
      return;
    case 'Queue':
      if (queuing === undefined) path.required('must not be empty if limited.limitResponse.type is Limited');
      else validateQueuing(path, queuing);
      return;
    default:
      refuseType(at, type, ['Queue', 'Reject']);
  }
}

const MAX_QUEUES = 10_000_000;

function validateQueuing(at: FieldPath, queuing: QueuingConfiguration): void {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing;
  if (queueLengthLimit <= 0) at.field('queueLengthLimit').invalid(queueLengthLimit, 'must be positive');
  if (queues <= 0) at.field('queues').invalid(queues, 'must be positive');
  if (queues > MAX_QUEUES) at.field('queues').invalid(queues, `must not be greater than ${MAX_QUEUES}`);
  validateHand(at.field('handSize'), handSize, queues);
}

/** A request's queues are chosen by one hash of this many bits. */
const HASH_BITS = 60;

function validateHand(at: FieldPath, size: number, queues: number): void {
  if (size <= 0) at.invalid(size, 'must be positive');
  else if (size > queues) at.invalid(size, `should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * size) > HASH_BITS)
    at.invalid(
      size,
      `required entropy bits of deckSize ${queues} and handSize ${size} should not be greater than ${HASH_BITS}`,
    );
}

const sharesOf = ({ spec }: PriorityLevelConfiguration): number =>
  spec?.limited?.nominalConcurrencyShares ?? 0;

function withAnnotations(
  level: PriorityLevelConfiguration,
  annotations: Record<string, string>,
): PriorityLevelConfiguration {
  const { annotations: _, ...metadata } = level.metadata;
  const hasSome = Object.keys(annotations).length > 0;
  return { ...level, metadata: hasSome ? { ...metadata, annotations } : metadata };
}

function withShares(
  level: PriorityLevelConfiguration,
  version: string,
  nominalConcurrencyShares: number,
): PriorityLevelConfiguration {
  const apiVersion = `flowcontrol.apiserver.k8s.io/${version}`;
  if (level.spec?.limited === undefined) return { ...level, apiVersion };
  const limited = { ...level.spec.limited, nominalConcurrencyShares };
  return { ...level, apiVersion, spec: { ...level.spec, limited } };
}
