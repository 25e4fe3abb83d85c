/** What this package throws besides the library's own errors. */
import { HoldfastError } from "holdfast";

export class SimulationNotFoundError extends HoldfastError {
  readonly code = "HOLDFAST_SIMULATION_NOT_FOUND";
}

/** The simulation is in a state that does not allow it. */
export class SimulationStateError extends HoldfastError {
  readonly code = "HOLDFAST_SIMULATION_STATE";
}

/** There is a simulation of this id, with another plan. */
export class SimulationTakenError extends HoldfastError {
  readonly code = "HOLDFAST_SIMULATION_TAKEN";
}
