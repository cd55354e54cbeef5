"""Training in closed form: what each device holds, and how long it takes."""
