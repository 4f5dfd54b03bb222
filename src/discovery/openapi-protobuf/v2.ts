import type { JsonObject } from '../../api/object-meta.ts';
import { asObject } from '../../object/field-errors.ts';
import { any, type Body, either, flag, many, map, mapInTurns, message, one, text, texts } from './message.ts';

/** OpenAPI v2 documents as protobuf (package openapi.v2), with the fields that this server's documents have. */
export async function encodeOpenApiV2(document: JsonObject): Promise<Uint8Array> {
  const paths = await mapInTurns(2, path, asObject(document.paths));
  const definitions = await mapInTurns(1, schema, asObject(document.definitions));
  const body = message(
    {
      swagger: text(1),
      info: one(2, message({ title: text(1), version: text(2), description: text(3) }, 7)),
      paths: one(8, () => paths),
      definitions: one(9, () => definitions),
    },
    16,
  );
  return body(document);
}

const schema: Body = (value) => schemaBody(value);

const schemaBody = message(
  {
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: one(5, any),
    uniqueItems: flag(16),
    required: texts(19),
    enum: many(20, any),
    additionalProperties: one(
      21,
      either(() => one(1, schema)),
    ),
    type: one(22, (value) => message({ value: texts(1) })({ value })),
    items: one(23, (value) => message({ schema: one(1, schema) })({ schema: value })),
    allOf: many(24, schema),
    properties: one(25, map(1, schema)),
  },
  31,
);

const bodyParameter = message(
  { description: text(1), name: text(2), in: text(3), required: flag(4), schema: one(5, schema) },
  6,
);
const queryParameter = message(
  {
    required: flag(1),
    in: text(2),
    description: text(3),
    name: text(4),
    type: text(6),
    format: text(7),
    uniqueItems: flag(20),
  },
  23,
);
const pathParameter = message(
  {
    required: flag(1),
    in: text(2),
    description: text(3),
    name: text(4),
    type: text(5),
    format: text(6),
    uniqueItems: flag(19),
  },
  22,
);

const nonBody = either(({ in: where }) =>
  where === 'path' ? one(4, pathParameter) : one(3, queryParameter),
);
const parameter = either(({ in: where }) => (where === 'body' ? one(1, bodyParameter) : one(2, nonBody)));
const parameterItem = either(() => one(1, parameter));

const response = message(
  {
    description: text(1),
    schema: one(
      2,
      either(() => one(1, schema)),
    ),
  },
  5,
);
const responses = map(
  1,
  either(() => one(1, response)),
);

const operation = message(
  {
    tags: texts(1),
    summary: text(2),
    description: text(3),
    operationId: text(5),
    produces: texts(6),
    consumes: texts(7),
    parameters: many(8, parameterItem),
    responses: one(9, responses),
    schemes: texts(10),
    deprecated: flag(11),
  },
  13,
);

const path = message(
  {
    get: one(2, operation),
    put: one(3, operation),
    post: one(4, operation),
    delete: one(5, operation),
    options: one(6, operation),
    head: one(7, operation),
    patch: one(8, operation),
    parameters: many(9, parameterItem),
  },
  10,
);
