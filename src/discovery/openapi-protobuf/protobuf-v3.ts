import type { JsonObject } from '../../api/object-meta.ts';
import { asObject } from '../../object/field-errors.ts';
import {
  any,
  type Body,
  double,
  either,
  encode,
  encoded,
  encodeInTurns,
  flag,
  integer,
  many,
  map,
  message,
  one,
  text,
  texts,
} from './protobuf-message.ts';

/** OpenAPI v3 documents as protobuf (package openapi.v3), with the fields that this server's documents have. */
export async function encodeOpenApiV3(document: JsonObject): Promise<Uint8Array> {
  const paths = await encodeInTurns(1, path, asObject(document.paths));
  const schemas = await encodeInTurns(1, schema, asObject(asObject(document.components).schemas));
  const body = message(
    {
      openapi: text(1),
      info: one(2, message({ title: text(1), description: text(2), version: text(6) }, 7)),
      paths: encoded(4, paths),
      components: one(
        5,
        message(
          { schemas: encoded(1, schemas), securitySchemes: one(7, map(1, one(1, securityScheme))) },
          10,
        ),
      ),
    },
    9,
  );
  return encode(body, document);
}

const securityScheme = message({ type: text(1), description: text(2), name: text(3), in: text(4) }, 9);

const reference = message({ $ref: text(1), summary: text(2), description: text(3) });
const orReference = (other: Body): Body =>
  either(({ $ref }) => ($ref === undefined ? one(1, other) : one(2, reference)));

const schema: Body = (out, value) => orReference(schemaBody)(out, value);

const schemaBody: Body = message(
  {
    nullable: flag(1),
    externalDocs: one(6, message({ description: text(1), url: text(2) }, 3)),
    example: one(7, any),
    title: text(9),
    multipleOf: double(10),
    maximum: double(11),
    exclusiveMaximum: flag(12),
    minimum: double(13),
    exclusiveMinimum: flag(14),
    maxLength: integer(15),
    minLength: integer(16),
    pattern: text(17),
    maxItems: integer(18),
    minItems: integer(19),
    uniqueItems: flag(20),
    maxProperties: integer(21),
    minProperties: integer(22),
    required: texts(23),
    enum: many(24, any),
    type: text(25),
    allOf: many(26, schema),
    oneOf: many(27, schema),
    anyOf: many(28, schema),
    not: one(29, (out, value) => schemaBody(out, value)),
    items: one(30, one(1, schema)),
    properties: one(31, map(1, schema)),
    additionalProperties: one(32, (out, value) =>
      typeof value === 'boolean' ? flag(2)(out, value) : one(1, schema)(out, value),
    ),
    default: (out, value) => scalarDefault(out, value),
    description: text(34),
    format: text(35),
  },
  36,
);

/** Only scalar defaults have a protobuf form; others are in the JSON document alone. */
const scalarDefault: Body = (out, value) => {
  if (typeof value === 'string') one(33, text(3))(out, value);
  else if (typeof value === 'boolean') one(33, flag(2))(out, value);
  else if (typeof value !== 'object') one(33, double(1))(out, value);
};

const parameter = orReference(
  message(
    {
      name: text(1),
      in: text(2),
      description: text(3),
      required: flag(4),
      deprecated: flag(5),
      schema: one(10, schema),
    },
    14,
  ),
);
const content = map(1, message({ schema: one(1, schema) }, 5));
const requestBody = orReference(
  message({ description: text(1), content: one(2, content), required: flag(3) }, 4),
);
const response = orReference(message({ description: text(1), content: one(3, content) }, 5));

const operation = message(
  {
    tags: texts(1),
    summary: text(2),
    description: text(3),
    operationId: text(5),
    parameters: many(6, parameter),
    requestBody: one(7, requestBody),
    responses: one(8, map(2, response)),
    deprecated: flag(10),
  },
  13,
);

const path = message(
  {
    get: one(4, operation),
    put: one(5, operation),
    post: one(6, operation),
    delete: one(7, operation),
    options: one(8, operation),
    head: one(9, operation),
    patch: one(10, operation),
    parameters: many(13, parameter),
  },
  14,
);
