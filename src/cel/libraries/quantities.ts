import type { Environment } from '@marcbachmann/cel-js';
import { parseQuantity, type Quantity } from '../../object/quantity.ts';

const NANO = 1_000_000_000n;
const INT64 = 1n << 63n;

class CelQuantity {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }

  equals(other: unknown): boolean {
    return other instanceof CelQuantity && other.nanos === this.nanos;
  }

  /** Undefined for a quantity that is no integer of 64 bits. */
  get integer(): bigint | undefined {
    const whole = this.nanos / NANO;
    return this.nanos % NANO === 0n && whole < INT64 && whole >= -INT64 ? whole : undefined;
  }
}

const TYPE = 'kubernetes.Quantity';
const SHAPE = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const MALFORMED =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Quantities of resources (Kubernetes: cel/library, quantity). */
export function registerQuantities(environment: Environment): Environment {
  const compare = (a: CelQuantity, b: CelQuantity): number =>
    a.nanos === b.nanos ? 0 : a.nanos < b.nanos ? -1 : 1;
  return environment
    .registerType(TYPE, CelQuantity)
    .registerOperator(`${TYPE} == ${TYPE}`, (a: CelQuantity, b: CelQuantity) => a.equals(b))
    .registerFunction(`quantity(string): ${TYPE}`, (text: string) => new CelQuantity(parse(text).nanos))
    .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined)
    .registerFunction(`sign(${TYPE}): int`, signOf)
    .registerFunction(
      `${TYPE}.isGreaterThan(${TYPE}): bool`,
      (a: CelQuantity, b: CelQuantity) => compare(a, b) > 0,
    )
    .registerFunction(
      `${TYPE}.isLessThan(${TYPE}): bool`,
      (a: CelQuantity, b: CelQuantity) => compare(a, b) < 0,
    )
    .registerFunction(`${TYPE}.compareTo(${TYPE}): int`, (a: CelQuantity, b: CelQuantity) =>
      BigInt(compare(a, b)),
    )
    .registerFunction(
      `${TYPE}.asApproximateFloat(): double`,
      ({ nanos }: CelQuantity) => Number(nanos / NANO) + Number(nanos % NANO) / Number(NANO),
    )
    .registerFunction(`${TYPE}.isInteger(): bool`, (quantity: CelQuantity) => quantity.integer !== undefined)
    .registerFunction(`${TYPE}.asInteger(): int`, ({ integer }: CelQuantity) => {
      if (integer === undefined) throw new Error('cannot convert value to integer');
      return integer;
    })
    .registerFunction(
      `${TYPE}.add(${TYPE}): ${TYPE}`,
      (a: CelQuantity, b: CelQuantity) => new CelQuantity(a.nanos + b.nanos),
    )
    .registerFunction(
      `${TYPE}.add(int): ${TYPE}`,
      (a: CelQuantity, b: bigint) => new CelQuantity(a.nanos + b * NANO),
    )
    .registerFunction(
      `${TYPE}.sub(${TYPE}): ${TYPE}`,
      (a: CelQuantity, b: CelQuantity) => new CelQuantity(a.nanos - b.nanos),
    )
    .registerFunction(
      `${TYPE}.sub(int): ${TYPE}`,
      (a: CelQuantity, b: bigint) => new CelQuantity(a.nanos - b * NANO),
    );
}

const signOf = ({ nanos }: CelQuantity): bigint => (nanos === 0n ? 0n : nanos < 0n ? -1n : 1n);

function parse(text: string): Quantity {
  const quantity = parseQuantity(text);
  if (quantity === undefined)
    throw new Error(SHAPE.test(text) ? "unable to parse quantity's suffix" : MALFORMED);
  return quantity;
}
