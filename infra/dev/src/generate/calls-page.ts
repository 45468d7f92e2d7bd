import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import { commonErrors } from '@flotilla/contracts/calls/common-errors';
import {
  type Field,
  type ObjectShape,
  readShape,
  type Shape,
  type UnionShape,
} from '@flotilla/contracts/calls/read-shape';
import { type CallContract, placeFields, subjectOfCall } from '@flotilla/contracts/define-call';
import { code, markdownPage, type Page, renderJson, renderTable } from './page.ts';

export function callsPage(): Page {
  const named = new Map<string, ObjectShape>();
  const sections = callCatalogue.map((call) => renderCall(call, named));
  return markdownPage('calls', 'Calls', 'libs/contracts/src/call-catalogue.ts', [
    'Every call of a client. Over HTTP send `Authorization: Bearer TOKEN`; bodies and answers are JSON, errors are `application/problem+json`. The gateway serves the same as `/reference` and `/v1/openapi.json`.',
    `Every call may answer ${commonErrors.map(code).join(', ')}; see [errors](errors.md).`,
    renderTable(
      ['Call', 'HTTP', 'Command line', 'Roles'],
      callCatalogue.map(({ name, http, cli, roles }) => [
        `[${name}](#${name.toLowerCase()})`,
        code(`${http.method} ${http.path}`),
        cli === undefined ? '' : code(`flotilla ${cli.verb}`),
        roles.join(' or '),
      ]),
    ),
    ...sections,
    '## Shapes',
    ...[...named.values()]
      .toSorted((left, right) => left.name.localeCompare(right.name))
      .map((shape) => [`### ${shape.name}`, renderFields(shape.fields)].join('\n\n')),
  ]);
}

function renderCall(call: CallContract, named: Map<string, ObjectShape>): string {
  const { path, query } = placeFields(call);
  const request = readShape(call.request, `${call.name}Request`);
  const response = readShape(call.response, `${call.name}Response`);
  const place = (name: string) => (path.includes(name) ? 'path' : query.includes(name) ? 'query' : 'body');
  collectNamed(request, named, true);
  collectNamed(response, named, true);
  return [
    `## ${call.name}`,
    call.summary,
    `${code(`${call.http.method} ${call.http.path}`)}${call.kind === 'stream' || call.servedBy === 'gateway' ? '' : `, asked of the ${call.servedBy} on ${code(subjectOfCall(call))}`}.`,
    request.kind === 'object' && request.fields.length > 0 ? renderFields(request.fields, place) : 'It takes nothing.',
    response.kind === 'union' ? 'Frames, by `event`:' : 'Answer:',
    response.kind === 'union' ? renderUnion(response) : renderFields(response.fields),
    ...(call.errors.length === 0 ? [] : [`Errors of its own: ${call.errors.map(code).join(', ')}.`]),
    renderJson(call.example.request),
    renderJson(call.example.response),
  ].join('\n\n');
}

function renderFields(fields: readonly Field[], place?: (name: string) => string): string {
  return renderTable(
    ['Field', ...(place === undefined ? [] : ['In']), 'Type', 'Meaning'],
    fields.map((field) => [
      code(field.name),
      ...(place === undefined ? [] : [place(field.name)]),
      `${typeOf(field.shape)}${needOf(field)}`,
      field.description ?? '',
    ]),
  );
}

function renderUnion({ options }: UnionShape): string {
  return renderTable(
    ['Event', 'Fields'],
    options.map(({ value, shape }) => [
      code(value),
      shape.fields.map((field) => `${code(field.name)} ${typeOf(field.shape)}${needOf(field)}`).join('; '),
    ]),
  );
}

function typeOf(shape: Shape): string {
  switch (shape.kind) {
    case 'enum':
      return shape.values.map(code).join(', ');
    case 'array':
      return `list of ${typeOf(shape.of)}`;
    case 'map':
      return `map to ${typeOf(shape.of)}`;
    case 'object':
      return `[${shape.name}](#${shape.name.toLowerCase()})`;
    case 'union':
      return shape.options.map(({ value }) => code(value)).join(' or ');
    case 'json':
      return 'any JSON';
    case 'string':
    case 'integer':
    case 'boolean':
      return shape.kind;
  }
}

function needOf({ defaultValue, optional, nullable }: Field): string {
  const need =
    defaultValue === undefined ? (optional ? ', optional' : '') : `, default ${code(JSON.stringify(defaultValue))}`;
  return nullable ? `${need}, may be null` : need;
}

function collectNamed(shape: Shape, named: Map<string, ObjectShape>, isOuter = false): void {
  switch (shape.kind) {
    case 'object':
      if (!isOuter) named.set(shape.name, shape);
      for (const field of shape.fields) collectNamed(field.shape, named);
      return;
    case 'union':
      for (const option of shape.options) collectNamed(option.shape, named, true);
      return;
    case 'array':
    case 'map':
      collectNamed(shape.of, named);
      return;
    case 'enum':
    case 'string':
    case 'integer':
    case 'boolean':
    case 'json':
      return;
  }
}
