import { celEqual } from '../cel-equality.ts';
import { doubleText, toBool, toDouble, toInt, toUint } from './conversions.ts';
import { flatten } from './lists.ts';
import { indexOf, lastIndexOf, lowerAscii, split, substring, upperAscii } from './text-functions.ts';

type OwnFunction = (args: readonly unknown[]) => unknown;

/** A function of a text, and of numbers or texts behind it. */
type OfText = (text: string, ...rest: never[]) => unknown;

const ofText =
  (run: OfText): OwnFunction =>
  (args) =>
    typeof args[0] === 'string' && args.slice(1).every(isPlain) ? run(...(args as [string])) : undefined;

const isPlain = (value: unknown): boolean => typeof value === 'string' || typeof value === 'bigint';

const ofValue =
  (run: (value: unknown) => unknown): OwnFunction =>
  ([value, ...rest]) =>
    rest.length === 0 ? run(value) : undefined;

/** `list.f(item)`: the library takes an item of the type of the first one alone. */
const ofList =
  (run: (list: readonly unknown[], item: unknown) => unknown, otherwise: OwnFunction): OwnFunction =>
  (args) =>
    Array.isArray(args[0]) && args.length === 2 ? run(args[0], args[1]) : otherwise(args);

/**
 * What functions do instead of the library's, by name: the library counts UTF-16 units, words errors in its own way, and wants
 * all items of a list to be of one type. A function returns undefined for arguments that the library is to judge.
 */
export const OWN_FUNCTIONS: ReadonlyMap<string, OwnFunction> = new Map<string, OwnFunction>([
  ['substring', ofText(substring)],
  ['split', ofText(split)],
  ['lowerAscii', ofText(lowerAscii)],
  ['upperAscii', ofText(upperAscii)],
  ['indexOf', ofList((list, item) => BigInt(list.findIndex((one) => celEqual(one, item))), ofText(indexOf))],
  [
    'lastIndexOf',
    ofList((list, item) => BigInt(list.findLastIndex((one) => celEqual(one, item))), ofText(lastIndexOf)),
  ],
  ['flatten', ([list, ...rest]) => (Array.isArray(list) && rest.length === 0 ? flatten(list, 1) : undefined)],
  ['int', ofValue(toInt)],
  ['uint', ofValue(toUint)],
  ['double', ofValue(toDouble)],
  ['bool', ofValue(toBool)],
  ['string', ofValue((value) => (typeof value === 'number' ? doubleText(value) : undefined))],
]);
