import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { isAlias, isScalar, parseAllDocuments, visit } from 'yaml';

const DOCUMENT_LIMIT_BYTES = 64 * 1024;

/**
 * Reads one YAML document as plain data. What another reader could see differently is refused: duplicate keys, anchors,
 * aliases and merge keys, tags, directives, a second document, numbers that are not plain digits.
 */
export function readDocument(text: string): unknown {
  if (new TextEncoder().encode(text).length > DOCUMENT_LIMIT_BYTES)
    throw unreadable(`it has more than ${DOCUMENT_LIMIT_BYTES} bytes`);
  if (/^%/m.test(text)) throw unreadable('directives are not read');
  const documents = parseAllDocuments(text, {
    uniqueKeys: true,
    merge: false,
    stringKeys: true,
    strict: true,
    logLevel: 'silent',
  });
  const [document] = documents;
  if (document === undefined) throw unreadable('it is empty');
  if (documents.length > 1) throw unreadable('it holds more than one document');
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) throw unreadable(problem.message);
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node) || node.anchor !== undefined) throw unreadable('anchors and aliases are not read');
      if (node.tag !== undefined) throw unreadable('tags are not read');
      if (isScalar(node) && typeof node.value === 'number' && !/^(0|[1-9]\d*)$/.test(node.source ?? '')) {
        throw unreadable(`"${node.source}" is not a number in plain digits`);
      }
    },
    Pair: (_, { key }) => {
      if (isScalar(key) && (key.value === '<<' || key.value === '__proto__'))
        throw unreadable(`"${key.value}" is no key`);
    },
  });
  return document.toJS({ maxAliasCount: 0 });
}

function unreadable(reason: string): FlotillaError {
  return new FlotillaError(errors.topologyInvalid, { topology: '(unread)', path: '(document)', reason });
}
