import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, count, NONE, part, parts, since, text } from '../cells.ts';

/** A pod's line: its phase, unless its containers tell more (Kubernetes: printers, printPod). */
export function podCells(pod: ApiObject, now: number): readonly Cell[] {
  const spec = part(pod, 'spec');
  const status = part(pod, 'status');
  const { ready, restarts, restartedAt, reason } = readContainers(pod);
  const shownRestarts =
    restarts > 0 && restartedAt !== '' ? `${restarts} (${since(restartedAt, now)} ago)` : `${restarts}`;
  const gates = parts(spec, 'readinessGates');
  return [
    pod.metadata.name ?? '',
    `${ready}/${parts(spec, 'containers').length}`,
    reason,
    shownRestarts,
    age(pod, now),
    text(parts(status, 'podIPs')[0]?.ip, text(status.podIP, NONE)),
    text(spec.nodeName, NONE),
    text(status.nominatedNodeName, NONE),
    gates.length === 0
      ? NONE
      : `${gates.filter((gate) => isTrue(status, text(gate.conditionType))).length}/${gates.length}`,
  ];
}

interface ContainerSummary {
  ready: number;
  restarts: number;
  restartedAt: string;
  reason: string;
}

function readContainers(pod: ApiObject): ContainerSummary {
  const status = part(pod, 'status');
  const summary = {
    ready: 0,
    restarts: 0,
    restartedAt: '',
    reason: text(status.reason, text(status.phase, 'Unknown')),
  };
  const waiting = readInitContainers(pod, summary);
  if (!waiting) readMainContainers(status, summary);
  if (pod.metadata.deletionTimestamp !== undefined) {
    summary.reason = status.reason === 'NodeLost' ? 'Unknown' : 'Terminating';
  }
  return summary;
}

/** True when the pod still is at its init containers, and the reason says so: `Init:1/2`. */
function readInitContainers(pod: ApiObject, summary: ContainerSummary): boolean {
  const declared = parts(part(pod, 'spec'), 'initContainers');
  for (const [at, container] of parts(part(pod, 'status'), 'initContainerStatuses').entries()) {
    noteRestarts(container, summary);
    const terminated = part(container, 'state', 'terminated');
    const waiting = part(container, 'state', 'waiting');
    if (terminated.exitCode === 0) continue;
    if (container.started === true && declared[at]?.restartPolicy === 'Always') {
      if (container.ready === true) summary.ready += 1;
      continue;
    }
    if (terminated.exitCode !== undefined) summary.reason = `Init:${endReason(terminated)}`;
    else if (text(waiting.reason, 'PodInitializing') !== 'PodInitializing')
      summary.reason = `Init:${text(waiting.reason)}`;
    else summary.reason = `Init:${at}/${declared.length}`;
    return true;
  }
  return false;
}

function readMainContainers(status: JsonObject, summary: ContainerSummary): void {
  let running = false;
  summary.restarts = 0;
  for (const container of parts(status, 'containerStatuses').reverse()) {
    noteRestarts(container, summary);
    const waiting = text(part(container, 'state', 'waiting').reason);
    const terminated = part(container, 'state', 'terminated');
    if (waiting !== '') summary.reason = waiting;
    else if (terminated.exitCode !== undefined) summary.reason = endReason(terminated);
    else if (container.ready === true && part(container, 'state').running !== undefined) {
      running = true;
      summary.ready += 1;
    }
  }
  if (summary.reason === 'Completed' && running) {
    summary.reason = isTrue(status, 'Ready') ? 'Running' : 'NotReady';
  }
}

function noteRestarts(container: JsonObject, summary: ContainerSummary): void {
  summary.restarts += count(container.restartCount);
  const finished = text(part(container, 'lastState', 'terminated').finishedAt);
  if (finished > summary.restartedAt) summary.restartedAt = finished;
}

function endReason({ reason, signal, exitCode }: JsonObject): string {
  if (text(reason) !== '') return text(reason);
  return count(signal) !== 0 ? `Signal:${count(signal)}` : `ExitCode:${count(exitCode)}`;
}

const isTrue = (status: JsonObject, type: string): boolean =>
  parts(status, 'conditions').some((condition) => condition.type === type && condition.status === 'True');
