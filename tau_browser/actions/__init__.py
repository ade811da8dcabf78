"""How conversations are changed: a plan is made, shown, carried out, and can be taken back."""
