import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { duplicate, eachInvalid, invalidValue, required } from '../../../object/field-errors.ts';
import { checkPort, checkPortName } from '../../../object/formats.ts';
import { count, parts, text } from '../../cells.ts';
import { each } from '../../validation/values.ts';

export function validatePorts(ports: readonly JsonObject[], path: string): FieldError[] {
  const names = new Set<string>();
  return each(ports, path, (port, at) => [
    ...validatePortName(text(port.name), `${at}.name`, names),
    ...(count(port.containerPort) === 0
      ? [required(`${at}.containerPort`)]
      : eachInvalid(`${at}.containerPort`, port.containerPort, checkPort(count(port.containerPort)))),
    ...(count(port.hostPort) === 0
      ? []
      : eachInvalid(`${at}.hostPort`, port.hostPort, checkPort(count(port.hostPort)))),
  ]);
}

function validatePortName(name: string, path: string, names: Set<string>): FieldError[] {
  if (name === '') return [];
  const problems = eachInvalid(path, name, checkPortName(name));
  if (problems.length > 0) return problems;
  if (names.has(name)) return [duplicate(path, name)];
  names.add(name);
  return [];
}

/** Two containers of a pod cannot take the same port of the node. */
export function validateHostPorts(containers: readonly JsonObject[], path: string): FieldError[] {
  const taken = new Set<string>();
  return each(containers, path, (container, at) =>
    each(parts(container, 'ports'), `${at}.ports`, (port, portAt) => {
      if (count(port.hostPort) === 0) return [];
      const place = `${text(port.protocol)}/${text(port.hostIP)}/${count(port.hostPort)}`;
      if (taken.has(place)) return [duplicate(`${portAt}.hostPort`, place)];
      taken.add(place);
      return [];
    }),
  );
}

/** On the node's own network a container's port is the node's. Templates may leave the host port to the pods made of them. */
export function validateHostNetworkPorts(spec: JsonObject, path: string, isPod: boolean): FieldError[] {
  if (spec.hostNetwork !== true) return [];
  return each(parts(spec, 'containers'), `${path}.containers`, (container, at) =>
    each(parts(container, 'ports'), `${at}.ports`, (port, portAt) => {
      const host = count(port.hostPort);
      if ((!isPod && host === 0) || host === count(port.containerPort)) return [];
      return [
        invalidValue(`${portAt}.hostPort`, host, 'must match `containerPort` when `hostNetwork` is true'),
      ];
    }),
  );
}

/** A port of a probe or a service: its number, or the name it has. */
export function validatePortOrName(port: unknown, path: string): FieldError[] {
  return typeof port === 'string'
    ? eachInvalid(path, port, checkPortName(port))
    : eachInvalid(path, port ?? 0, checkPort(Number(port ?? 0)));
}
