/** Bounds of the loop itself, beside the step's allowance. */
export interface AgentSettings {
  /** Turns in a row that bring nothing before the loop gives up. */
  readonly troubledTurns: number;
  /** Refused finishes before the loop ends unverified. */
  readonly fixCycles: number;
  /** The same call so often, with nothing changed between, is pointed out. */
  readonly repetitionsNudged: number;
  /** … and ends the loop. */
  readonly repetitionsMost: number;
  /** Text of one answer. */
  readonly answerCharacters: number;
  /** Arguments of one call, as JSON; longer ones are neither kept nor run. */
  readonly argumentCharacters: number;
  /** Result of one call, as the model reads it and the journal keeps it. */
  readonly resultCharacters: number;
  /** Of a conversation; beyond it, old results and long old arguments are left out. */
  readonly transcriptCharacters: number;
  /** Calls of one turn; further ones are not taken. */
  readonly callsPerTurn: number;
  /** Attempts at one turn when the provider fails in the middle of an answer. */
  readonly turnAttempts: number;
}

export const defaultAgentSettings: AgentSettings = {
  troubledTurns: 4,
  fixCycles: 3,
  repetitionsNudged: 3,
  repetitionsMost: 6,
  answerCharacters: 64_000,
  argumentCharacters: 1_000_000,
  resultCharacters: 16_000,
  transcriptCharacters: 480_000,
  callsPerTurn: 24,
  turnAttempts: 3,
};
