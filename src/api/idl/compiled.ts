import { fileURLToPath } from 'node:url';
import { PROJECT } from '../../project.ts';
import type { Life, Minor } from '../emulation.ts';
import type { FieldGate } from '../schema.ts';

/** The compiled form of the IDL, between the build (compile.ts) and the running server (types.ts). */

export const COMPILED_TYPES = fileURLToPath(new URL('dist/api/idl/types.json', PROJECT));
export const COMPILED_DOCS = fileURLToPath(new URL('dist/api/idl/docs.json', PROJECT));

export type CompiledTypes = Record<string, CompiledMessage>;

export interface CompiledMessage extends Life {
  readonly fields: readonly CompiledField[];
  /** Fields that only newer versions of Kubernetes have, once the others are chosen. */
  readonly newer?: readonly string[];
  readonly typed?: boolean;
  readonly atomic?: boolean;
  readonly unions?: readonly {
    readonly discriminator?: string;
    readonly fields: Readonly<Record<string, string>>;
  }[];
}

export interface CompiledField extends Life {
  readonly name: string;
  /** A scalar kind, `StringList`, or the name of a message. */
  readonly type: string;
  readonly number?: number;
  readonly repeated?: boolean;
  readonly map?: boolean;
  readonly required?: boolean;
  /** The versions whose OpenAPI document requires the field, where these are not all or none. */
  readonly requiredLife?: Life;
  /** Whether that of the chosen version does. */
  readonly publishedRequired?: boolean;
  readonly immutable?: boolean;
  readonly pointer?: boolean;
  readonly always?: boolean;
  readonly inline?: boolean;
  readonly atomic?: boolean;
  readonly granular?: boolean;
  readonly retainKeys?: boolean;
  /** A strategic merge patch replaces the value. */
  readonly replaced?: boolean;
  readonly default?: unknown;
  readonly hidesDefault?: boolean;
  /** OpenAPI has it, and decoding does not apply it. */
  readonly documentedDefault?: unknown;
  /** The first version whose OpenAPI document has the default. */
  readonly defaultPublishedSince?: Minor;
  readonly enum?: readonly string[];
  /** Values of the enumeration that older versions lack. */
  readonly enumSince?: Readonly<Record<string, Minor>>;
  /** The first version that does not write the field when it is empty. */
  readonly omittedSince?: Minor;
  /** It does not, in the chosen version. */
  readonly omitted?: boolean;
  /** `set`, or `map: key, key`. */
  readonly list?: string;
  /** Strategic merge key; '' for a list of scalars. */
  readonly merge?: string;
  readonly gate?: FieldGate;
  readonly ungated?: readonly string[];
  readonly dropEmpty?: boolean;
}
