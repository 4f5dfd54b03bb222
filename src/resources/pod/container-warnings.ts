import type { JsonObject } from '../../api/object-meta.ts';
import { count, objectsOf, text } from '../../object/parts.ts';
import { eachAt } from '../validation/values.ts';
import { CONTAINER_LISTS } from './containers-of.ts';

/** A variable may be defined again to extend itself, `PATH=$(PATH):/more`; anything else hides what was there. */
export function addEnvWarnings(said: string[], variables: readonly JsonObject[], path: string): void {
  if (variables.length < 2) return;
  const seen = new Set<string>();
  eachAt(variables, path, (variable, at) => {
    const name = text(variable.name);
    if (seen.has(name) && !extendsItself(variable, `$(${name})`))
      said.push(`${at}: hides previous definition of "${name}", which may be dropped when using apply`);
    seen.add(name);
  });
}

function extendsItself(variable: JsonObject, itself: string): boolean {
  const value = text(variable.value);
  return variable.valueFrom === undefined && value !== itself && value.includes(itself);
}

interface Port {
  readonly path: string;
  readonly hostIp: string;
  readonly hostPort: number;
}

/** Ports that two containers, or one of them twice, say they listen on. */
export function addPortWarnings(said: string[], spec: JsonObject, path: string): void {
  const known = new Map<string, Port[]>();
  for (const list of CONTAINER_LISTS)
    eachAt(objectsOf(spec[list]), `${path}.${list}`, (container, of) =>
      eachAt(objectsOf(container.ports), `${of}.ports`, (port, at) => addPortWarning(said, port, at, known)),
    );
}

function addPortWarning(said: string[], given: JsonObject, path: string, known: Map<string, Port[]>): void {
  const port = { path, hostIp: text(given.hostIP), hostPort: count(given.hostPort) };
  if (port.hostIp !== '' && port.hostPort === 0)
    said.push(`${path}: hostIP set without hostPort: ${describe(given)}`);
  const key = `${count(given.containerPort)}/${text(given.protocol)}`;
  const others = known.get(key);
  if (others === undefined) {
    known.set(key, [port]);
    return;
  }
  for (const other of others) {
    const clash = clashOf(port, other);
    if (clash !== undefined) said.push(`${path}: ${clash} port definition with ${other.path}`);
  }
  others.push(port);
}

function clashOf(port: Port, other: Port): string | undefined {
  if (port.hostIp === other.hostIp && port.hostPort === other.hostPort) return 'duplicate';
  if (port.hostPort === 0 || other.hostPort === 0) return 'overlapping';
  const oneAny = (port.hostIp === '') !== (other.hostIp === '');
  return port.hostPort === other.hostPort && oneAny ? 'dangerously ambiguous' : undefined;
}

/** As Go prints the struct. */
function describe({ name, hostPort, containerPort, protocol, hostIP }: JsonObject): string {
  return `{Name:${text(name)} HostPort:${count(hostPort)} ContainerPort:${count(containerPort)} Protocol:${text(protocol)} HostIP:${text(hostIP)}}`;
}
