import type { ApiObject, JsonValue } from '../api/object-meta.ts';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
} from '../api/types/apiextensions/v1.ts';
import { durationSince } from '../object/ages.ts';
import { withinInt64 } from '../object/exact-json.ts';
import { goJson } from '../object/go-json.ts';
import { goNumber } from '../object/go-value.ts';
import { type JsonPath, JsonPathBudget, JsonPathError, readJsonPath } from '../object/json-path.ts';
import { parseRfc3339 } from '../object/rfc3339.ts';
import type { Cell, Column, ColumnSet } from '../registry/resource-definition.ts';

/**
 * The table of a version of a custom resource: the name, then the columns of its definition, or else the age. As in
 * apiextensions-apiserver (customresource/tableconvertor), an invalid path ends the columns.
 */
export const toColumns = ({ additionalPrinterColumns }: CustomResourceDefinitionVersion): ColumnSet =>
  toColumnSet(additionalPrinterColumns?.length ? additionalPrinterColumns : [AGE]);

const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  priority: 0,
  description: 'Name of the object, unique within its namespace.',
};
const AGE: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description: 'When the server made the object. Clients may not set it.',
  jsonPath: '.metadata.creationTimestamp',
};
const DESIRED: CustomResourceColumnDefinition = {
  name: 'Desired',
  type: 'integer',
  description: 'Number of desired replicas',
  jsonPath: '.spec.replicas',
};
const AVAILABLE: CustomResourceColumnDefinition = {
  name: 'Available',
  type: 'integer',
  description: 'Number of actual replicas',
  jsonPath: '.status.replicas',
};

/** Further columns are ignored: parsing the paths of 100,000 takes a second. */
const MAX_COLUMNS = 1000;
/** Values that all paths of a row together may visit: about 10 ms. */
const MAX_ROW_VALUES = 50_000;

interface ReadColumn {
  readonly path: JsonPath;
  readonly type: Column['type'];
}

function toColumnSet(given: readonly CustomResourceColumnDefinition[]): ColumnSet {
  const columns: Column[] = [NAME];
  const read: ReadColumn[] = [];
  for (const definition of given.slice(0, MAX_COLUMNS)) {
    const path = readJsonPath(definition.jsonPath ?? '');
    if (path === undefined) break;
    const column = toColumn(definition);
    columns.push(column);
    read.push({ path, type: column.type });
  }
  return {
    columns,
    cells: (object, now) => {
      const budget = new JsonPathBudget(MAX_ROW_VALUES);
      return [object.metadata.name ?? '', ...read.map((column) => cellOf(object, column, { now, budget }))];
    },
  };
}

function toColumn({
  name = '',
  type = '',
  format = '',
  priority = 0,
  description = '',
  jsonPath = '',
}: CustomResourceColumnDefinition): Column {
  return {
    name,
    type: isColumnType(type) ? type : 'string',
    format,
    priority,
    description:
      description === ''
        ? `Custom resource definition column (in JSONPath format): ${jsonPath}`
        : description,
  };
}

const TYPES: readonly string[] = ['boolean', 'date', 'integer', 'number', 'string'];

const isColumnType = (type: string): type is Column['type'] => TYPES.includes(type);

function cellOf(
  object: ApiObject,
  { path, type }: ReadColumn,
  { now, budget }: { readonly now: number; readonly budget: JsonPathBudget },
): Cell {
  const [value] = find(path, object, budget);
  if (value === undefined) return null;
  return type === 'string' ? toText(withinInt64(value)) : toCell(withinInt64(value), type, now);
}

/** A path that does not fit the object, or exceeds its budget, selects nothing. */
function find(path: JsonPath, object: ApiObject, budget: JsonPathBudget): readonly JsonValue[] {
  try {
    return path.find(object, budget);
  } catch (error) {
    if (error instanceof JsonPathError) return [];
    throw error;
  }
}

function toText(value: JsonValue): string {
  if (value === null) return '<no value>';
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return goNumber(value);
    case 'object':
      return goJson(value);
    default:
      return String(value);
  }
}

/** A value of another type makes an empty cell. */
function toCell(value: JsonValue, type: Exclude<Column['type'], 'string'>, now: number): Cell {
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? toInt64(value) : typeof value === 'bigint' ? value : null;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, now) : null;
    default:
      return type satisfies never;
  }
}

const MIN_INT64 = -(2n ** 63n);

/** Converts a float64 to int64: truncated, and the least integer when it is too large, as on amd64. */
const toInt64 = (value: number): Cell => (Math.abs(value) < 2 ** 63 ? Math.trunc(value) : MIN_INT64);

/** The zero time.Time, which means no time. */
const NO_TIME = Date.parse('0001-01-01T00:00:00Z');

function ageOf(text: string, now: number): string {
  if (text === '' || text === 'null') return '<unknown>';
  const timeMs = parseRfc3339(text);
  if (timeMs === undefined) return '<invalid>';
  return timeMs === NO_TIME ? '<unknown>' : durationSince(timeMs, now);
}

/** The table of the subresource scale, the same for all resources. */
export const SCALE_COLUMNS: ColumnSet = toColumnSet([DESIRED, AVAILABLE, AGE]);
