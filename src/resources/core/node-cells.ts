import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { part, parts, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, NONE } from '../cells.ts';

const ROLE_PREFIX = 'node-role.kubernetes.io/';

export function nodeCells(node: ApiObject, now: number): readonly Cell[] {
  const status = part(node, 'status');
  const info = part(status, 'nodeInfo');
  return [
    node.metadata.name ?? '',
    readiness(node),
    text(roles(node.metadata.labels ?? {}).join(','), NONE),
    age(node, now),
    text(info.kubeletVersion),
    address(status, 'InternalIP'),
    address(status, 'ExternalIP'),
    text(info.osImage, '<unknown>'),
    text(info.kernelVersion, '<unknown>'),
    text(info.containerRuntimeVersion, '<unknown>'),
  ];
}

function readiness(node: ApiObject): string {
  const ready = parts(part(node, 'status'), 'conditions').find(({ type }) => type === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return part(node, 'spec').unschedulable === true ? `${state},SchedulingDisabled` : state;
}

function roles(labels: Readonly<Record<string, string>>): string[] {
  const found = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length)
      return [key.slice(ROLE_PREFIX.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return [...new Set(found)].sort();
}

function address(status: JsonObject, type: string): string {
  return text(parts(status, 'addresses').find((one) => one.type === type)?.address, NONE);
}
