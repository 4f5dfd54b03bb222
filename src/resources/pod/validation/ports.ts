import type { JsonObject, JsonValue } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { addInvalid, duplicate, invalidValue, required } from '../../../object/field-errors.ts';
import { checkPort, checkPortName } from '../../../object/formats.ts';
import { count, objectsOf, text } from '../../../object/parts.ts';
import { eachAt } from '../../validation/values.ts';

export function validatePorts(ports: readonly JsonObject[], path: string, errors: FieldError[]): void {
  const names = new Set<string>();
  eachAt(ports, path, (port, at) => {
    validatePortName(text(port.name), `${at}.name`, names, errors);
    const { containerPort, hostPort } = port;
    if (count(containerPort) === 0) errors.push(required(`${at}.containerPort`));
    else addInvalid(errors, `${at}.containerPort`, containerPort, checkPort(count(containerPort)));
    if (count(hostPort) !== 0) addInvalid(errors, `${at}.hostPort`, hostPort, checkPort(count(hostPort)));
  });
}

function validatePortName(name: string, path: string, names: Set<string>, errors: FieldError[]): void {
  if (name === '') return;
  const problems = checkPortName(name);
  if (problems.length > 0) addInvalid(errors, path, name, problems);
  else if (names.has(name)) errors.push(duplicate(path, name));
  else names.add(name);
}

/** Two containers of a pod cannot take the same port of the node. */
export function validateHostPorts(
  containers: readonly JsonObject[],
  path: string,
  errors: FieldError[],
): void {
  const taken = new Set<string>();
  eachAt(containers, path, (container, at) =>
    eachAt(objectsOf(container.ports), `${at}.ports`, (port, portAt) => {
      if (count(port.hostPort) === 0) return;
      const place = `${text(port.protocol)}/${text(port.hostIP)}/${count(port.hostPort)}`;
      if (taken.has(place)) errors.push(duplicate(`${portAt}.hostPort`, place));
      taken.add(place);
    }),
  );
}

/** On the node's own network a container's port is the node's. Templates may leave the host port to the pods made of them. */
export function validateHostNetworkPorts(
  spec: JsonObject,
  path: string,
  isPod: boolean,
  errors: FieldError[],
): void {
  eachAt(objectsOf(spec.containers), `${path}.containers`, (container, at) =>
    eachAt(objectsOf(container.ports), `${at}.ports`, (port, portAt) => {
      const host = count(port.hostPort);
      if ((!isPod && host === 0) || host === count(port.containerPort)) return;
      const why = 'must match `containerPort` when `hostNetwork` is true';
      errors.push(invalidValue(`${portAt}.hostPort`, host, why));
    }),
  );
}

/** A port of a probe or a service: its number, or the name it has. */
export function validatePortOrName(port: JsonValue | undefined, path: string, errors: FieldError[]): void {
  const problems = typeof port === 'string' ? checkPortName(port) : checkPort(Number(port ?? 0));
  addInvalid(errors, path, port ?? 0, problems);
}
