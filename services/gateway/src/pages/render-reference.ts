import { createHash } from 'node:crypto';
import { commonErrors } from '@flotilla/contracts/calls/common-errors';
import { type Field, readShape, type Shape } from '@flotilla/contracts/calls/read-shape';
import { type CallContract, placeFields } from '@flotilla/contracts/define-call';
import { escapeHtml } from './escape-html.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
nav ul { columns: 2; padding: 0; list-style: none; }
code, pre { font: 0.9em ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid #8886; border-radius: 4px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid #8884; }
section { margin-top: 3rem; }
.method { font-weight: 600; }
`;

/** The reference of every call as one page that loads nothing and runs nothing. */
export function renderReference(calls: readonly CallContract[], version: string) {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Flotilla reference</title><style>${style}</style></head><body>
<h1>Flotilla ${escapeHtml(version)}</h1>
<p>Send <code>Authorization: Bearer TOKEN</code> with every call. Bodies and answers are JSON; errors are
<code>application/problem+json</code> with a <code>code</code> and an <code>advice</code>. The same as a document for tools:
<a href="/v1/openapi.json">/v1/openapi.json</a>.</p>
<p>Every call may answer ${commonErrors.map(code).join(', ')}.</p>
<nav><ul>${calls.map(({ name }) => `<li><a href="#${name}">${name}</a></li>`).join('')}</ul></nav>
${calls.map(renderCall).join('\n')}
</body></html>
`;
  const hash = createHash('sha256').update(style).digest('base64');
  return {
    html,
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}

function renderCall(call: CallContract): string {
  const answer = call.kind === 'stream' ? 'Frames, by <code>event</code>' : 'Answer';
  return `<section id="${call.name}"><h2>${call.name}</h2>
<p><code><span class="method">${call.http.method}</span> ${escapeHtml(call.http.path)}</code>${
    call.cli === undefined ? '' : ` &nbsp; <code>flotilla ${escapeHtml(call.cli.verb)}</code>`
  } &nbsp; role ${call.roles.map(code).join(' or ')}</p>
<p>${escapeHtml(call.summary)}</p>
<h3>Request</h3>${renderFields(call)}
<pre>${escapeHtml(JSON.stringify(call.example.request, null, 2))}</pre>
<h3>${answer}</h3><pre>${escapeHtml(JSON.stringify(call.example.response, null, 2))}</pre>
${call.errors.length === 0 ? '' : `<p>Errors of its own: ${call.errors.map(code).join(', ')}.</p>`}</section>`;
}

function renderFields(call: CallContract): string {
  const shape = readShape(call.request, call.name);
  if (shape.kind !== 'object' || shape.fields.length === 0) return '<p>Nothing.</p>';
  const { path, query } = placeFields(call);
  const rows = shape.fields.map((field) => {
    const place = path.includes(field.name) ? 'path' : query.includes(field.name) ? 'query' : 'body';
    return `<tr><td>${code(field.name)}</td><td>${place}</td><td>${typeOf(field.shape)}${need(field)}</td><td>${escapeHtml(field.description ?? '')}</td></tr>`;
  });
  return `<table><tr><th>Field<th>In<th>Type<th>Meaning</tr>${rows.join('')}</table>`;
}

function typeOf(shape: Shape): string {
  switch (shape.kind) {
    case 'enum':
      return shape.values.map(code).join(' | ');
    case 'array':
      return `list of ${typeOf(shape.of)}`;
    case 'map':
      return `map to ${typeOf(shape.of)}`;
    case 'object':
      return escapeHtml(shape.name);
    case 'union':
      return shape.options.map(({ value }) => code(value)).join(' | ');
    case 'string':
    case 'integer':
    case 'boolean':
    case 'json':
      return shape.kind;
  }
}

function need(field: Field): string {
  if (field.defaultValue !== undefined) return `, default ${code(JSON.stringify(field.defaultValue))}`;
  return field.optional ? ', optional' : '';
}

function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}
