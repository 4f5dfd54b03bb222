import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { duplicate, eachInvalid, forbiddenField, required } from '../../../object/field-errors.ts';
import { checkName, checkPort, checkPortName, checkQualifiedName } from '../../../object/formats.ts';
import { count, parts, text } from '../../../object/parts.ts';
import { goServicePort } from '../../validation/go-structs.ts';
import { typeOf } from '../service-kind.ts';

export function validateServicePorts(spec: JsonObject): FieldError[] {
  const ports = parts(spec, 'ports');
  const names = new Set<string>();
  return [
    ...ports.flatMap((port, at) => [
      ...validateName(port, ports.length > 1, names, `spec.ports[${at}].name`),
      ...validatePort(port, `spec.ports[${at}]`),
    ]),
    ...(typeOf(spec) === 'ClusterIP' ? forbidNodePorts(ports) : []),
    ...validateUnique(ports),
  ];
}

function validateName(
  port: JsonObject,
  mustBeNamed: boolean,
  taken: Set<string>,
  path: string,
): FieldError[] {
  const name = text(port.name);
  if (name === '') return mustBeNamed ? [required(path)] : [];
  const errors = eachInvalid(path, name, checkName(name, 'dns-label'));
  if (taken.has(name)) errors.push(duplicate(path, name));
  taken.add(name);
  return errors;
}

function validatePort({ port, targetPort, appProtocol }: JsonObject, path: string): FieldError[] {
  const target = typeof targetPort === 'string' ? checkPortName(targetPort) : checkPort(count(targetPort));
  const protocol = appProtocol === undefined ? [] : checkQualifiedName(text(appProtocol));
  return [
    ...eachInvalid(`${path}.port`, count(port), checkPort(count(port))),
    ...eachInvalid(`${path}.targetPort`, targetPort, target),
    ...eachInvalid(`${path}.appProtocol`, appProtocol, protocol),
  ];
}

function forbidNodePorts(ports: readonly JsonObject[]): FieldError[] {
  const why = "may not be used when `type` is 'ClusterIP'";
  return ports.flatMap(({ nodePort }, at) =>
    count(nodePort) === 0 ? [] : [forbiddenField(`spec.ports[${at}].nodePort`, why)],
  );
}

/** A number may be used once for each protocol. */
function validateUnique(ports: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [at, { protocol, port, nodePort }] of ports.entries()) {
    const nodeKey = `node ${text(protocol)} ${count(nodePort)}`;
    const key = `${text(protocol)} ${count(port)}`;
    if (count(nodePort) !== 0 && seen.has(nodeKey))
      errors.push(duplicate(`spec.ports[${at}].nodePort`, nodePort));
    if (seen.has(key)) errors.push(duplicate(`spec.ports[${at}]`, goServicePort(protocol, port)));
    seen.add(nodeKey).add(key);
  }
  return errors;
}
