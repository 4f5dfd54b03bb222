import type { Life } from '../../api/emulation.ts';
import type {
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
  PodSpec,
  PodStatus,
} from '../../api/types/core/v1.ts';
import type { Cell } from '../../registry/resource-definition.ts';
import { age, NONE, since } from '../cells.ts';
import { column, nameColumn, type Table } from '../define.ts';
import { hasCondition } from './pod-conditions.ts';

const COLUMNS = [
  nameColumn(),
  column('Ready'),
  column('Status'),
  column('Restarts'),
  column('Age'),
  column('IP', 1),
  column('Node', 1),
  column('Nominated Node', 1),
  column('Readiness Gates', 1),
];

export const table: Table<Pod> = {
  columns: COLUMNS,
  cells: (pod, now) => podCells(pod, now, (summary) => shownReason(pod, summary)),
};

/** Up to Kubernetes 1.34, a container that ended well hides that others have failed. */
export const olderTable: Life & Table<Pod> = {
  until: 35,
  columns: COLUMNS,
  cells: (pod, now) => podCells(pod, now, (summary) => shownReason(pod, { ...summary, failure: '' })),
};

/** A pod's row, with its phase or a more precise state of its containers (Kubernetes: printers, printPod). */
function podCells(pod: Pod, now: number, reasonOf: (summary: ContainerSummary) => string): readonly Cell[] {
  const { metadata, spec = {}, status = {} } = pod;
  const summary = readContainers(pod);
  const { ready, restarts, restartedAt } = summary;
  const gates = spec.readinessGates ?? [];
  const passed = gates.filter(({ conditionType = '' }) => hasCondition(status, conditionType));
  const counted = (spec.containers ?? []).length + restartableNames(spec).size;
  return [
    metadata.name ?? '',
    `${ready}/${counted}`,
    reasonOf(summary),
    restarts > 0 && restartedAt !== '' ? `${restarts} (${since(restartedAt, now)} ago)` : `${restarts}`,
    age(pod, now),
    status.podIPs?.[0]?.ip || status.podIP || NONE,
    spec.nodeName || NONE,
    status.nominatedNodeName || NONE,
    gates.length === 0 ? NONE : `${passed.length}/${gates.length}`,
  ];
}

/** Init containers that run beside the others. */
const restartableNames = ({ initContainers = [] }: PodSpec): ReadonlySet<string | undefined> =>
  new Set(initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));

interface Restarts {
  restarts: number;
  restartedAt: string;
}

interface ContainerSummary extends Restarts {
  ready: number;
  reason: string;
  /** Why a main container ended that failed. */
  failure: string;
  /** Whether a main container is ready. */
  isRunning: boolean;
}

function shownReason({ metadata, status = {} }: Pod, summary: ContainerSummary): string {
  if (metadata.deletionTimestamp !== undefined) {
    if (status.reason === 'NodeLost') return 'Unknown';
    if (status.phase !== 'Failed' && status.phase !== 'Succeeded') return 'Terminating';
  }
  const { reason, failure, isRunning } = summary;
  if (reason !== 'Completed') return reason;
  if (isRunning && hasCondition(status, 'Ready')) return 'Running';
  return failure || (isRunning ? 'NotReady' : reason);
}

function readContainers(pod: Pod): ContainerSummary {
  const { status = {} } = pod;
  const summary: ContainerSummary = {
    ...{ ready: 0, restarts: 0, restartedAt: '', reason: phaseReason(status), failure: '' },
    isRunning: false,
  };
  const restartable = { restarts: 0, restartedAt: '' };
  const isInitializing = readInitContainers(pod, summary, restartable);
  if (!isInitializing || hasCondition(status, 'Initialized')) {
    Object.assign(summary, restartable);
    readMainContainers(status, summary);
  }
  return summary;
}

function phaseReason({ conditions = [], reason, phase }: PodStatus): string {
  const isGated = conditions.some((one) => one.type === 'PodScheduled' && one.reason === 'SchedulingGated');
  return isGated ? 'SchedulingGated' : reason || phase || 'Unknown';
}

/** True: init containers are unfinished, with the reason `Init:1/2`. */
function readInitContainers(
  { spec = {}, status = {} }: Pod,
  summary: ContainerSummary,
  ofRestartable: Restarts,
): boolean {
  const restartable = restartableNames(spec);
  for (const [at, container] of (status.initContainerStatuses ?? []).entries()) {
    const runsBeside = restartable.has(container.name);
    addRestarts(container, summary);
    if (runsBeside) addRestarts(container, ofRestartable);
    if (container.state?.terminated?.exitCode === 0) continue;
    if (runsBeside && container.started === true) {
      if (container.ready === true) summary.ready += 1;
      continue;
    }
    summary.reason = `Init:${initReason(container.state ?? {}, at, (spec.initContainers ?? []).length)}`;
    return true;
  }
  return false;
}

function initReason({ terminated, waiting }: ContainerState, at: number, total: number): string {
  if (terminated !== undefined) return endReason(terminated);
  const reason = waiting?.reason ?? '';
  return reason === '' || reason === 'PodInitializing' ? `${at}/${total}` : reason;
}

function readMainContainers(status: PodStatus, summary: ContainerSummary): void {
  for (const container of (status.containerStatuses ?? []).toReversed()) {
    const { waiting, terminated, running } = container.state ?? {};
    addRestarts(container, summary);
    if ((waiting?.reason ?? '') !== '') summary.reason = waiting?.reason ?? '';
    else if (terminated !== undefined) {
      summary.reason = endReason(terminated);
      if ((terminated.exitCode ?? 0) !== 0) summary.failure = summary.reason;
    } else if (container.ready === true && running !== undefined) {
      summary.isRunning = true;
      summary.ready += 1;
    }
  }
}

function addRestarts({ restartCount = 0, lastState }: ContainerStatus, summary: Restarts): void {
  summary.restarts += restartCount;
  const finished = lastState?.terminated?.finishedAt ?? '';
  if (finished > summary.restartedAt) summary.restartedAt = finished;
}

function endReason({ reason = '', signal = 0, exitCode = 0 }: ContainerStateTerminated): string {
  if (reason !== '') return reason;
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}
