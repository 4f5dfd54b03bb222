import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { isDealable } from '../queueing/shuffle.ts';
import { number, part, text } from './flow-schema.ts';

/** A PriorityLevelConfiguration as the queues need it (flowcontrol.apiserver.k8s.io/v1). */
export interface PriorityLevel {
  readonly name: string;
  readonly uid: string;
  readonly exempt: boolean;
  /** Part of the server's seats, against the sum of all shares. */
  readonly shares: number;
  /** The part of its seats that other levels may use while this one does not need them. */
  readonly lendablePercent: number;
  /** How much the level may borrow, in percent of its own seats; undefined: no limit. */
  readonly borrowingLimitPercent: number | undefined;
  /** Undefined: a request that gets no seat at once is refused. */
  readonly queuing: Queuing | undefined;
}

export interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

const DEFAULT_SHARES = 30;
const DEFAULT_QUEUING: Queuing = { queues: 64, handSize: 8, queueLengthLimit: 50 };

/** Undefined for an unusable object, which is treated as if it did not exist. */
export function parsePriorityLevel({ metadata, spec }: ApiObject): PriorityLevel | undefined {
  const fields = part({ spec }, 'spec');
  const { name = '', uid = '' } = metadata;
  const type = text(fields, 'type');
  // Only the level `exempt` may be exempt.
  if ((type === 'Exempt') !== (name === 'exempt')) return undefined;
  if (type === 'Exempt') return { name, uid, exempt: true, ...parseShares(part(fields, 'exempt'), 0) };
  const limited = part(fields, 'limited');
  if (type !== 'Limited' || limited === undefined) return undefined;
  const response = part(limited, 'limitResponse');
  const level = { name, uid, exempt: false, ...parseShares(limited, DEFAULT_SHARES) };
  if (text(response, 'type') !== 'Queue') return level;
  const queuing = parseQueuing(part(response, 'queuing'));
  return isDealable(queuing) ? { ...level, queuing } : undefined;
}

function parseShares(fields: JsonObject | undefined, defaultShares: number) {
  return {
    shares: number(fields, 'nominalConcurrencyShares') ?? defaultShares,
    lendablePercent: number(fields, 'lendablePercent') ?? 0,
    borrowingLimitPercent: number(fields, 'borrowingLimitPercent'),
    queuing: undefined,
  };
}

function parseQueuing(fields: JsonObject | undefined): Queuing {
  const { queues, handSize, queueLengthLimit } = DEFAULT_QUEUING;
  return {
    queues: number(fields, 'queues') || queues,
    handSize: number(fields, 'handSize') || handSize,
    queueLengthLimit: number(fields, 'queueLengthLimit') || queueLengthLimit,
  };
}
