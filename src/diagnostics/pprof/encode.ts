import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { BackwardWriter } from '../../codec/protobuf/backward-writer.ts';

/** A function, where it begins. */
export interface Frame {
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

export interface Sample {
  /** The innermost function first. */
  readonly stack: readonly Frame[];
  /** One for each type of the profile. */
  readonly values: readonly number[];
}

interface ValueType {
  readonly type: string;
  readonly unit: string;
}

interface Profile {
  readonly samples: readonly Sample[];
  readonly types: readonly ValueType[];
  readonly period: ValueType & { readonly value: number };
  readonly durationMs: number;
}

/** A gzipped perftools.profiles.Profile for `go tool pprof` and other readers of its format (proto/profile.proto of pprof). */
export async function encodeProfile(profile: Profile): Promise<Buffer> {
  return promisify(gzip)(new ProfileWriter().write(profile));
}

/** The wire type of values with a length. */
const BYTES = 2;

/** Writes last things first, as {@link BackwardWriter} needs, so the table of strings is filled before anything is written. */
class ProfileWriter {
  readonly #out = new BackwardWriter();
  /** The first string must be the empty one. */
  readonly #strings = new Map<string, number>([['', 0]]);
  /** A function and its location share a number, because only the beginning of the function is known. */
  readonly #frames = new Map<string, { readonly id: number; readonly frame: Frame }>();

  write({ samples, types, period, durationMs }: Profile): Buffer {
    const stacks = samples.map(({ stack, values }) => ({
      ids: stack.map((frame) => this.#idOf(frame)),
      values,
    }));
    for (const { frame } of this.#frames.values())
      for (const text of [frame.name, frame.file]) this.#string(text);
    for (const { type, unit } of [...types, period]) for (const text of [type, unit]) this.#string(text);

    this.#number(12, period.value);
    this.#valueType(11, period);
    this.#number(10, durationMs * 1e6);
    this.#number(9, BigInt(Date.now()) * 1_000_000n);
    for (const text of [...this.#strings.keys()].reverse()) this.#field(6, () => this.#out.string(text));
    for (const { id, frame } of this.#frames.values()) this.#frame(id, frame);
    for (const { ids, values } of stacks.reverse()) {
      this.#field(2, () => {
        this.#field(2, () => this.#varints(values));
        this.#field(1, () => this.#varints(ids));
      });
    }
    for (const type of [...types].reverse()) this.#valueType(1, type);
    return this.#out.finish();
  }

  #idOf(frame: Frame): number {
    const key = `${frame.name}\0${frame.file}\0${frame.line}`;
    const known = this.#frames.get(key);
    if (known !== undefined) return known.id;
    const id = this.#frames.size + 1;
    this.#frames.set(key, { id, frame });
    return id;
  }

  #string(text: string): number {
    const at = this.#strings.get(text) ?? this.#strings.size;
    this.#strings.set(text, at);
    return at;
  }

  /** A function, and the location in it. */
  #frame(id: number, { name, file, line }: Frame): void {
    this.#field(5, () => {
      this.#number(5, line);
      this.#number(4, this.#string(file));
      this.#number(2, this.#string(name));
      this.#number(1, id);
    });
    this.#field(4, () => {
      this.#field(4, () => {
        this.#number(2, line);
        this.#number(1, id);
      });
      this.#number(1, id);
    });
  }

  #valueType(field: number, { type, unit }: ValueType): void {
    this.#field(field, () => {
      this.#number(2, this.#string(unit));
      this.#number(1, this.#string(type));
    });
  }

  #varints(values: readonly number[]): void {
    for (const value of [...values].reverse()) this.#out.varint(value);
  }

  #number(field: number, value: number | bigint): void {
    this.#out.integer(value);
    this.#out.varint(field << 3);
  }

  #field(field: number, body: () => void): void {
    const before = this.#out.written;
    body();
    this.#out.varint(this.#out.written - before);
    this.#out.varint((field << 3) | BYTES);
  }
}
