import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, NONE, since } from '../cells.ts';
import { isSet } from '../validation/values.ts';
import { hasCondition } from './pod-conditions.ts';

/** A pod's line: its phase, unless its containers tell more (Kubernetes: printers, printPod). */
export function podCells(pod: ApiObject, now: number): readonly Cell[] {
  const spec = part(pod, 'spec');
  const status = part(pod, 'status');
  const { ready, restarts, restartedAt, reason } = readContainers(pod);
  const shownRestarts =
    restarts > 0 && restartedAt !== '' ? `${restarts} (${since(restartedAt, now)} ago)` : `${restarts}`;
  const gates = parts(spec, 'readinessGates');
  const passed = gates.filter((gate) => hasCondition(status, text(gate.conditionType)));
  const counted = parts(spec, 'containers').length + restartableNames(spec).size;
  return [
    pod.metadata.name ?? '',
    `${ready}/${counted}`,
    reason,
    shownRestarts,
    age(pod, now),
    text(parts(status, 'podIPs')[0]?.ip, text(status.podIP, NONE)),
    text(spec.nodeName, NONE),
    text(status.nominatedNodeName, NONE),
    gates.length === 0 ? NONE : `${passed.length}/${gates.length}`,
  ];
}

/** Init containers that run beside the others. */
const restartableNames = (spec: JsonObject): Set<string> =>
  new Set(
    parts(spec, 'initContainers')
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name }) => text(name)),
  );

interface Restarts {
  restarts: number;
  restartedAt: string;
}

interface ContainerSummary extends Restarts {
  ready: number;
  reason: string;
}

function readContainers(pod: ApiObject): ContainerSummary {
  const status = part(pod, 'status');
  const summary = { ready: 0, restarts: 0, restartedAt: '', reason: phaseReason(status) };
  const restartable = { restarts: 0, restartedAt: '' };
  const initializing = readInitContainers(pod, summary, restartable);
  if (!initializing || hasCondition(status, 'Initialized')) {
    Object.assign(summary, restartable);
    readMainContainers(status, summary);
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (status.reason === 'NodeLost') summary.reason = 'Unknown';
    else if (status.phase !== 'Failed' && status.phase !== 'Succeeded') summary.reason = 'Terminating';
  }
  return summary;
}

function phaseReason(status: JsonObject): string {
  const gated = parts(status, 'conditions').some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  return gated ? 'SchedulingGated' : text(status.reason, text(status.phase, 'Unknown'));
}

/** True when the pod still is at its init containers, and the reason says so: `Init:1/2`. */
function readInitContainers(pod: ApiObject, summary: ContainerSummary, ofRestartable: Restarts): boolean {
  const spec = part(pod, 'spec');
  const restartable = restartableNames(spec);
  for (const [at, container] of parts(part(pod, 'status'), 'initContainerStatuses').entries()) {
    const beside = restartable.has(text(container.name));
    noteRestarts(container, summary);
    if (beside) noteRestarts(container, ofRestartable);
    if (part(container, 'state', 'terminated').exitCode === 0) continue;
    if (beside && container.started === true) {
      if (container.ready === true) summary.ready += 1;
      continue;
    }
    summary.reason = `Init:${initReason(container, at, parts(spec, 'initContainers').length)}`;
    return true;
  }
  return false;
}

function initReason(container: JsonObject, at: number, total: number): string {
  const state = part(container, 'state');
  if (isSet(state.terminated)) return endReason(part(state, 'terminated'));
  const waiting = text(part(state, 'waiting').reason);
  return waiting === '' || waiting === 'PodInitializing' ? `${at}/${total}` : waiting;
}

function readMainContainers(status: JsonObject, summary: ContainerSummary): void {
  let running = false;
  for (const container of parts(status, 'containerStatuses').toReversed()) {
    noteRestarts(container, summary);
    const state = part(container, 'state');
    const waiting = text(part(state, 'waiting').reason);
    if (waiting !== '') summary.reason = waiting;
    else if (isSet(state.terminated)) summary.reason = endReason(part(state, 'terminated'));
    else if (container.ready === true && isSet(state.running)) {
      running = true;
      summary.ready += 1;
    }
  }
  if (summary.reason === 'Completed' && running) {
    summary.reason = hasCondition(status, 'Ready') ? 'Running' : 'NotReady';
  }
}

function noteRestarts(container: JsonObject, summary: Restarts): void {
  summary.restarts += count(container.restartCount);
  const finished = text(part(container, 'lastState', 'terminated').finishedAt);
  if (finished > summary.restartedAt) summary.restartedAt = finished;
}

function endReason({ reason, signal, exitCode }: JsonObject): string {
  if (text(reason) !== '') return text(reason);
  return count(signal) !== 0 ? `Signal:${count(signal)}` : `ExitCode:${count(exitCode)}`;
}
