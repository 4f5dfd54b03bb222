import type { Life } from '../api/emulation.ts';
import type { Gates } from '../api/feature-gates.ts';
import type { ResourceOf } from '../api/names.ts';
import type { ApiObject, JsonValue } from '../api/object-meta.ts';
import { forbidden, type StatusCause, type StatusError } from '../api/status.ts';
import type { UserInfo } from '../request/api-request.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts';
import type { ClusterObjects } from './cluster-objects.ts';

/** The parts that most plugins are made from. A plugin that needs more names them in its description. */
export interface PluginParts {
  readonly objects: ClusterObjects;
  readonly access: Access;
  readonly isFeatureOn: Gates;
  readonly once: OnceInServer;
  /** From the file --admission-control-config-file; undefined: the plugin's defaults. */
  readonly config: JsonValue | undefined;
}

/** A question to a part of a plugin. Threads ask it of each other: argument and answer are values. */
export type Ask<Argument, Answer> = (argument: Argument, signal: AbortSignal) => Answer | Promise<Answer>;

/** Returns the question to a part that a server has once, such as a limit, however many threads serve. `part`: its name. */
export type OnceInServer = <Argument, Answer>(
  part: string,
  create: () => Ask<Argument, Answer>,
) => Ask<Argument, Answer>;

/** Asks a part by its name. */
export type AskPlugin = (part: string, argument: unknown, signal: AbortSignal) => unknown;

/** The parts of plugins of which a server has one. */
export class OneOfEach {
  readonly #asks = new Map<string, Ask<unknown, unknown>>();

  readonly once: OnceInServer = (part, create) => {
    const ask = create();
    // Both ends of a question are the same plugin, in two threads.
    this.#asks.set(part, ask as Ask<unknown, unknown>);
    return ask;
  };

  /** @throws Error for an unknown part, and that of the part */
  readonly ask: AskPlugin = (part, argument, signal) => {
    const ask = this.#asks.get(part);
    if (ask === undefined) throw new Error(`there is no part ${part} of a plugin`);
    return ask(argument, signal);
  };
}

/** The parts are in another thread. */
export const onceElsewhere =
  (askThere: AskPlugin): OnceInServer =>
  <Argument, Answer>(part: string) =>
  (argument: Argument, signal: AbortSignal) =>
    askThere(part, argument, signal) as Promise<Answer>;

/** A plugin as its file describes it. */
interface PluginDescription<Name extends string, Parts> extends Life {
  readonly name: Name;
  /** False: the plugin is off unless --enable-admission-plugins names it. */
  readonly isDefault: boolean;
  /** Undefined: its feature gate is off. @throws Error about its configuration */
  readonly create: (parts: Parts) => AdmissionPlugin | undefined;
}

export const describePlugin = <const Name extends string, Parts>(
  description: PluginDescription<Name, Parts>,
): PluginDescription<Name, Parts> => description;

/** A write whose objects are of type `T`. */
export interface WriteOf<T extends ApiObject> extends AdmissionAttributes {
  readonly object: T | undefined;
  readonly old: T | undefined;
  readonly sent?: T;
}

/**
 * Whether the resource is written, by itself or through the named subresource. The type of the objects follows from the name
 * of the resource here and nowhere else. A subresource that has a body of its own is named by a resource of that type.
 */
export function isWriteOf<T extends ApiObject>(
  attributes: AdmissionAttributes,
  { group, resource }: ResourceOf<T>,
  subresource = '',
): attributes is WriteOf<T> {
  const { definition } = attributes;
  return (
    definition.resource === resource && attributes.subresource === subresource && definition.group === group
  );
}

/** The error by which plugins refuse a write: 403 with the object's name, or the generateName of an object without one. */
export function refusal(
  { definition, name, object }: AdmissionAttributes,
  why: string,
  causes?: readonly StatusCause[],
): StatusError {
  const generateName = object?.metadata.generateName;
  return forbidden(
    definition,
    name || (typeof generateName === 'string' ? generateName : '') || 'Unknown',
    why,
    causes,
  );
}

/** Refuses for several reasons, each named once. Does nothing when there are none. */
export function refuseFor(attributes: AdmissionAttributes, reasons: readonly string[]): void {
  const [first, ...others] = new Set(reasons);
  if (first === undefined) return;
  throw refusal(attributes, others.length === 0 ? first : `[${[first, ...others].join(', ')}]`);
}

/** A right that a plugin asks for, in addition to the right to the request itself. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface Access {
  /** Why the user lacks the right; '' without a reason. Undefined: the user has the right. */
  whyNot(user: UserInfo, right: Right): Promise<string | undefined>;
}

export interface Refusals {
  /** The message of the 403 for a user who lacks the right. Undefined: the user has the right. */
  refusal(user: UserInfo, right: Right): Promise<string | undefined>;
}
